#include "formats/io/atomic_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
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

[[noreturn]] void refuse(const std::string& path, const std::string& reason) {
  throw StorageError(concat("cannot write '", path, "': ", reason));
}

/// In some folders, as /tmp, only the owners of a file and of the folder may replace the file.
bool isOthers(int folder, const std::string& name) {
  struct stat place {
  }, file{};
  const bool known = ::fstat(folder, &place) == 0 && ::fstatat(folder, name.c_str(), &file, AT_SYMLINK_NOFOLLOW) == 0;
  const uid_t user = ::geteuid();
  return known && (place.st_mode & S_ISVTX) != 0 && user != 0 && user != place.st_uid && user != file.st_uid;
}

}  // namespace

AtomicFile::AtomicFile(std::string path)
    : path_(std::move(path)), name_(std::filesystem::path(path_).filename().string()) {
  try {
    openFolder();
    openFile();
  } catch (...) {
    close();
    throw;
  }
}

AtomicFile::~AtomicFile() { close(); }

void AtomicFile::openFolder() {
  folder_ = ::open(folderOf(path_).c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC);
  if (folder_ < 0) fail(path_, "write");
  if (name_.empty()) refuse(path_, "it is a folder; name a file");
  struct stat file {};
  if (::fstatat(folder_, name_.c_str(), &file, 0) != 0) {
    if (errno != ENOENT) fail(path_, "write");
    return;
  }
  if (!S_ISREG(file.st_mode)) {
    refuse(path_, concat("it is ", S_ISDIR(file.st_mode) ? "a folder" : "a device, a FIFO or a socket",
                         ", and would be replaced; name a file"));
  }
  if (isOthers(folder_, name_)) {
    refuse(path_, "it is another user's, and its folder lets only owners replace a file; choose another place");
  }
}

// EISDIR: of file systems older than O_TMPFILE.
void AtomicFile::openFile() {
  descriptor_ = ::openat(folder_, ".", O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
  if (descriptor_ >= 0) return;
  if (errno != EOPNOTSUPP && errno != EISDIR) fail(path_, "write");
  temporary_.emplace(folder_);
  descriptor_ = ::openat(folder_, temporary_->text(), O_CREAT | O_EXCL | O_RDWR | O_CLOEXEC, 0600);
  if (descriptor_ < 0) fail(path_, "write");
}

void AtomicFile::close() {
  temporary_.reset();
  for (int* const each : {&descriptor_, &folder_}) {
    if (*each >= 0) ::close(*each);
    *each = -1;
  }
}

void AtomicFile::append(std::span<const uint8_t> bytes) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(descriptor_, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) fail(path_, "write");
    bytes = bytes.subspan(static_cast<size_t>(written));
  }
}

std::string AtomicFile::openPath() const { return concat("/proc/self/fd/", descriptor_); }

// linkat() replaces no file, so a file without a name gets one of its own first.
void AtomicFile::commit() {
  if (::fchmod(descriptor_, usualMode()) != 0 || ::fsync(descriptor_) != 0) fail(path_, "bring to disk");
  if (!temporary_) {
    const std::string own = openPath();
    temporary_.emplace(folder_);
    if (::linkat(AT_FDCWD, own.c_str(), folder_, temporary_->text(), AT_SYMLINK_FOLLOW) != 0) fail(path_, "write");
  }
  if (::renameat(folder_, temporary_->text(), folder_, name_.c_str()) != 0) fail(path_, "write");
  syncFolder();
  close();
}

// A folder may let this user write and not read; then the system brings it to disk in its own time.
void AtomicFile::syncFolder() const {
  const int readable = ::openat(folder_, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (readable < 0 && errno == EACCES) return;
  if (readable < 0) fail(path_, "open the folder of");
  const bool synced = ::fsync(readable) == 0 || errno == EINVAL;
  ::close(readable);
  if (!synced) fail(path_, "bring to disk the folder of");
}

void writeAtomically(const std::string& path, std::span<const uint8_t> bytes) {
  AtomicFile file(path);
  file.append(bytes);
  file.commit();
}

void makeFolder(const std::string& folder) {
  std::error_code failure;
  std::filesystem::create_directories(folder, failure);
  if (failure) throwStorageError("make the folder", folder, failure.message());
  const AtomicFile probe(folder + "/probe");  // it is removed again
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
