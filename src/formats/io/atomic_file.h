#pragma once

#include <cstdint>
#include <span>
#include <string>

namespace tandem {

/// A file that appears whole or not at all. It is written beside `path` without a name, and replaces `path` once it is
/// complete and on disk. Without commit() nothing remains, however the process ends. (A file system that has no files
/// without names keeps a "PATH.XXXXXX" if the process is killed.) All members throw StorageError.
class AtomicFile {
 public:
  /// Refuses a path that stands for something else than a regular file.
  explicit AtomicFile(std::string path);
  ~AtomicFile();
  AtomicFile(const AtomicFile&) = delete;
  AtomicFile& operator=(const AtomicFile&) = delete;

  void append(std::span<const uint8_t> bytes);
  void commit();

 private:
  /// Gives the file a name beside `path`.
  void name();

  const std::string path_;
  std::string temporary_;  // empty: it has no name
  int descriptor_ = -1;
};

/// Throws StorageError if an AtomicFile of `bytes` cannot be written to `path` now.
void requireReplaceable(const std::string& path, int64_t bytes = 0);

}  // namespace tandem
