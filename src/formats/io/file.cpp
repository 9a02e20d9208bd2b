#include "formats/io/file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <fstream>
#include <sstream>
#include <system_error>

namespace tandem {
namespace {

[[noreturn]] void refuse(const std::string& path, const char* action, int reason) {
  throw DataError(concat("cannot ", action, " '", path, "': ", std::generic_category().message(reason), " (errno ",
                         reason, "); check the path and its permissions"));
}

class OpenFile {
 public:
  // O_NONBLOCK: opening a FIFO must not wait for its writer. Regular files ignore it.
  explicit OpenFile(const std::string& path)
      : path_(path), fd_(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)) {
    if (fd_ < 0) refuse(path_, "open", errno);
  }
  ~OpenFile() { ::close(fd_); }
  OpenFile(const OpenFile&) = delete;
  OpenFile& operator=(const OpenFile&) = delete;

  uint64_t size() const {
    const struct stat status = facts();
    if (!S_ISREG(status.st_mode)) {
      throw DataError(concat("'", path_, "' is not a regular file but a ",
                             S_ISDIR(status.st_mode) ? "folder" : "special file", "; give a file"));
    }
    return static_cast<uint64_t>(status.st_size);
  }

  bool isFifo() const { return S_ISFIFO(facts().st_mode); }

  /// Some devices have no end, as /dev/zero.
  void requireNoDevice() const {
    const mode_t mode = facts().st_mode;
    if (S_ISCHR(mode) || S_ISBLK(mode)) throw DataError(concat("'", path_, "' is a device; give a file"));
  }

  /// What the writers of a FIFO write until all have closed it.
  std::string readFifo() const {
    std::string text;
    std::array<char, 1 << 16> buffer;
    ssize_t got = ::read(fd_, buffer.data(), buffer.size());
    if (got == 0) throw DataError(concat("'", path_, "' is a FIFO that nobody writes to; give a file"));
    ::fcntl(fd_, F_SETFL, O_RDONLY);  // from here on wait for the writers
    for (; got != 0; got = ::read(fd_, buffer.data(), buffer.size())) {
      if (got > 0) text.append(buffer.data(), static_cast<size_t>(got));
      if (got < 0 && errno != EAGAIN && errno != EINTR) refuse(path_, "read", errno);
    }
    return text;
  }

  std::vector<uint8_t> read(uint64_t bytes) const {
    std::vector<uint8_t> content(bytes);
    for (uint64_t done = 0; done < bytes;) {
      const ssize_t got = ::read(fd_, content.data() + done, bytes - done);
      if (got < 0 && errno == EINTR) continue;
      if (got < 0) refuse(path_, "read", errno);
      if (got == 0) throw DataError(concat("'", path_, "' shrank while it was read: ", done, " of ", bytes, " bytes"));
      done += static_cast<uint64_t>(got);
    }
    return content;
  }

 private:
  struct stat facts() const {
    struct stat status {};
    if (::fstat(fd_, &status) != 0) refuse(path_, "inspect", errno);
    return status;
  }

  const std::string& path_;
  const int fd_;
};

}  // namespace

std::unique_ptr<std::istream> openForReading(const std::string& path) {
  const OpenFile file(path);
  file.requireNoDevice();
  if (file.isFifo()) return std::make_unique<std::istringstream>(file.readFifo());
  auto stream = std::make_unique<std::ifstream>(path, std::ios::binary);
  if (!*stream) refuse(path, "open", errno);
  return stream;
}

std::vector<uint8_t> readFile(const std::string& path, uint64_t limitBytes) {
  const OpenFile file(path);
  const uint64_t size = file.size();
  if (size > limitBytes) {
    throw DataError(concat("'", path, "' is ", size, " bytes; the limit is ", limitBytes, " bytes"));
  }
  return file.read(size);
}

std::vector<uint8_t> readFileHead(const std::string& path, uint64_t bytes) {
  const OpenFile file(path);
  return file.read(std::min(file.size(), bytes));
}

}  // namespace tandem
