#include "formats/io/atomic_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <system_error>

#include "base/error.h"
#include "base/text.h"
#include "formats/io/free_space.h"

namespace tandem {
namespace {

[[noreturn]] void fail(const std::string& path, const char* action) {
  const int reason = errno;
  throw StorageError(concat("cannot ", action, " '", path, "': ", std::generic_category().message(reason), " (errno ",
                            reason, "; free there: ", freeSpaceText(path), "); choose another place"));
}

/// The permissions that open() would give a new file.
mode_t usualMode() {
  const mode_t mask = ::umask(0);
  ::umask(mask);
  return 0666 & ~mask;
}

void refuseOtherThanFile(const std::string& path) {
  struct stat facts {};
  if (::stat(path.c_str(), &facts) != 0 || S_ISREG(facts.st_mode)) return;
  throw StorageError(concat("cannot write '", path, "': it is ",
                            S_ISDIR(facts.st_mode) ? "a folder" : "a device, a FIFO or a socket",
                            ", and would be replaced; name a file"));
}

void syncFolder(const std::string& path) {
  const int folder = ::open(folderOf(path).c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (folder < 0) fail(path, "open the folder of");
  const bool synced = ::fsync(folder) == 0 || errno == EINVAL;
  ::close(folder);
  if (!synced) fail(path, "bring to disk the folder of");
}

}  // namespace

AtomicFile::AtomicFile(std::string path) : path_(std::move(path)) {
  refuseOtherThanFile(path_);
  descriptor_ = ::open(folderOf(path_).c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
  if (descriptor_ >= 0) return;
  if (errno != EOPNOTSUPP && errno != EISDIR) fail(path_, "write");  // EISDIR: of file systems older than O_TMPFILE
  temporary_ = path_ + ".XXXXXX";
  descriptor_ = ::mkostemp(temporary_.data(), O_CLOEXEC);
  if (descriptor_ < 0) fail(path_, "write");
}

AtomicFile::~AtomicFile() {
  if (descriptor_ < 0) return;
  ::close(descriptor_);
  if (!temporary_.empty()) ::unlink(temporary_.c_str());
}

void AtomicFile::append(std::span<const uint8_t> bytes) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(descriptor_, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) fail(path_, "write");
    bytes = bytes.subspan(static_cast<size_t>(written));
  }
}

// linkat() replaces no file, so the file gets a name of its own first.
void AtomicFile::name() {
  const std::string own = concat("/proc/self/fd/", descriptor_);
  for (int i = 0;; ++i) {
    const std::string name = concat(path_, '.', ::getpid(), '.', i);
    if (::linkat(AT_FDCWD, own.c_str(), AT_FDCWD, name.c_str(), AT_SYMLINK_FOLLOW) == 0) {
      temporary_ = name;
      return;
    }
    if (errno != EEXIST) fail(path_, "write");
  }
}

void AtomicFile::commit() {
  if (::fchmod(descriptor_, usualMode()) != 0 || ::fsync(descriptor_) != 0) fail(path_, "bring to disk");
  if (temporary_.empty()) name();
  if (::rename(temporary_.c_str(), path_.c_str()) != 0) fail(path_, "write");
  ::close(descriptor_);
  descriptor_ = -1;
  syncFolder(path_);
}

void requireReplaceable(const std::string& path, int64_t bytes) {
  const AtomicFile probe(path);
  std::error_code unknown;
  const auto space = std::filesystem::space(folderOf(path), unknown);
  if (unknown || space.available >= static_cast<uintmax_t>(bytes)) return;
  throw StorageError(concat("cannot write '", path, "': it needs ", bytesText(static_cast<double>(bytes)), ", and ",
                            freeSpaceText(path), " are free there; choose another place"));
}

}  // namespace tandem
