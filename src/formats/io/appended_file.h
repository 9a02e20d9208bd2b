#pragma once

#include <string>
#include <string_view>

namespace tandem {

/// A file that grows at its end: a regular file, a device, or a FIFO that somebody reads. Any number of processes may
/// append to one. All members throw StorageError.
class AppendedFile {
 public:
  /// Opens or creates the file. It never waits: a FIFO that nobody reads is refused. `title` names the file in errors.
  AppendedFile(std::string path, std::string title);
  ~AppendedFile();
  AppendedFile(const AppendedFile&) = delete;
  AppendedFile& operator=(const AppendedFile&) = delete;

  void append(std::string_view text);

  /// A regular file's can be read from too.
  int descriptor() const { return descriptor_; }
  const std::string& path() const { return path_; }

  /// "TITLE: cannot ACTION: REASON", with the free space and what to do.
  [[noreturn]] void fail(const std::string& action, const std::string& reason) const;
  /// The reason is that of errno.
  [[noreturn]] void fail(const std::string& action) const;

 private:
  std::string path_, title_;
  int descriptor_ = -1;
};

}  // namespace tandem
