#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "formats/io/temporary_name.h"

namespace tandem {

/// A file that appears whole or not at all. It is written beside `path` without a name, and replaces `path` once it is
/// complete and on disk. Without commit() nothing remains, however the process ends. (A file system that has no files
/// without names keeps a TemporaryName if the process is killed.) All members throw StorageError.
class AtomicFile {
 public:
  /// Refuses a path that stands for something else than a regular file, or whose file cannot be replaced.
  explicit AtomicFile(std::string path);
  ~AtomicFile();
  AtomicFile(const AtomicFile&) = delete;
  AtomicFile& operator=(const AtomicFile&) = delete;

  void append(std::span<const uint8_t> bytes);
  void commit();
  /// By which a library of this process can open the file, until commit().
  std::string openPath() const;

 private:
  /// Opens the folder, and looks at what stands at the path.
  void openFolder();
  void openFile();
  void syncFolder() const;
  void close();

  const std::string path_, name_;  // name_: within the folder
  int folder_ = -1, descriptor_ = -1;
  std::optional<TemporaryName> temporary_;  // none: the file has no name
};

/// Writes a file as AtomicFile does.
void writeAtomically(const std::string& path, std::span<const uint8_t> bytes);

/// Makes a folder and its parents, and checks that a file can be written there. Throws StorageError.
void makeFolder(const std::string& folder);

/// Throws StorageError if an AtomicFile of `bytes` cannot be written to `path` now.
void requireReplaceable(const std::string& path, int64_t bytes = 0);

}  // namespace tandem
