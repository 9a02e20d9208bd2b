#include "formats/io/appended_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "base/error.h"
#include "base/text.h"
#include "formats/io/free_space.h"

namespace tandem {
namespace {

bool isFifo(const std::string& path) {
  struct stat facts {};
  return ::stat(path.c_str(), &facts) == 0 && S_ISFIFO(facts.st_mode);
}

/// Opened without waiting for a reader, and written to with waiting.
int openFifo(const std::string& path) {
  const int descriptor = ::open(path.c_str(), O_WRONLY | O_NONBLOCK | O_CLOEXEC);
  if (descriptor >= 0) ::fcntl(descriptor, F_SETFL, O_WRONLY);
  return descriptor;
}

}  // namespace

AppendedFile::AppendedFile(std::string path, std::string title) : path_(std::move(path)), title_(std::move(title)) {
  const bool fifo = isFifo(path_);
  descriptor_ = fifo ? openFifo(path_) : ::open(path_.c_str(), O_RDWR | O_APPEND | O_CREAT | O_CLOEXEC, 0666);
  if (descriptor_ < 0 && fifo && errno == ENXIO) fail("open it for writing", "it is a FIFO that nobody reads");
  if (descriptor_ < 0) fail("open it for writing");
}

AppendedFile::~AppendedFile() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

void AppendedFile::append(std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = ::write(descriptor_, text.data(), text.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) fail("write to it");
    text.remove_prefix(static_cast<size_t>(written));
  }
}

void AppendedFile::fail(const std::string& action, const std::string& reason) const {
  throw StorageError(concat(title_, ": cannot ", action, ": ", reason, " (free there: ", freeSpaceText(path_),
                            "); choose another place"));
}

void AppendedFile::fail(const std::string& action) const { fail(action, std::strerror(errno)); }

}  // namespace tandem
