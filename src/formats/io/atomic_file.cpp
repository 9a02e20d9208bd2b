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

void syncFolder(const std::string& path) {
  const int folder = ::open(folderOf(path).c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (folder < 0) fail(path, "open the folder of");
  const bool synced = ::fsync(folder) == 0 || errno == EINVAL;
  ::close(folder);
  if (!synced) fail(path, "bring to disk the folder of");
}

}  // namespace

AtomicFile::AtomicFile(std::string path) : path_(std::move(path)), temporary_(path_ + ".XXXXXX") {
  std::error_code ignored;
  if (std::filesystem::is_directory(path_, ignored)) {
    errno = EISDIR;
    fail(path_, "write");
  }
  descriptor_ = ::mkostemp(temporary_.data(), O_CLOEXEC);
  if (descriptor_ < 0) fail(path_, "write");
}

AtomicFile::~AtomicFile() {
  if (descriptor_ < 0) return;
  ::close(descriptor_);
  ::unlink(temporary_.c_str());
}

void AtomicFile::append(std::span<const uint8_t> bytes) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(descriptor_, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) fail(path_, "write");
    bytes = bytes.subspan(static_cast<size_t>(written));
  }
}

void AtomicFile::commit() {
  if (::fchmod(descriptor_, usualMode()) != 0 || ::fsync(descriptor_) != 0) fail(path_, "bring to disk");
  if (::rename(temporary_.c_str(), path_.c_str()) != 0) fail(path_, "write");
  ::close(descriptor_);
  descriptor_ = -1;
  syncFolder(path_);
}

}  // namespace tandem
