#pragma once

#include <cstdint>
#include <span>
#include <string>

namespace tandem {

/// A file that appears whole or not at all. It is written beside `path` under a name of its own, and replaces `path`
/// once it is complete and on disk. Without commit() nothing remains. All members throw StorageError.
class AtomicFile {
 public:
  explicit AtomicFile(std::string path);
  ~AtomicFile();
  AtomicFile(const AtomicFile&) = delete;
  AtomicFile& operator=(const AtomicFile&) = delete;

  void append(std::span<const uint8_t> bytes);
  void commit();

 private:
  const std::string path_;
  std::string temporary_;
  int descriptor_ = -1;
};

}  // namespace tandem
