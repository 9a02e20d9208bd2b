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
    read(0, content);
    return content;
  }

  void read(uint64_t offset, std::span<uint8_t> out) const {
    for (uint64_t done = 0; done < out.size();) {
      const ssize_t got = ::pread(fd_, out.data() + done, out.size() - done, static_cast<off_t>(offset + done));
      if (got < 0 && errno == EINTR) continue;
      if (got < 0) refuse(path_, "read", errno);
      if (got == 0) {
        throw DataError(
            concat("'", path_, "' shrank while it was read: ", offset + done, " of ", offset + out.size(), " bytes"));
      }
      done += static_cast<uint64_t>(got);
    }
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

class ReadableFile::Open : public OpenFile {
 public:
  using OpenFile::OpenFile;
};

ReadableFile::ReadableFile(std::string path)
    : path_(std::move(path)), open_(std::make_unique<Open>(path_)), size_(open_->size()) {}
ReadableFile::~ReadableFile() = default;
void ReadableFile::read(uint64_t offset, std::span<uint8_t> out) const { open_->read(offset, out); }

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
