#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "formats/io/summed_file.h"

namespace tandem {

/// Writes a database of LMDB by the library liblmdb: one file, without a folder or a lock file. What is in it is known
/// here. (What is read comes from others; that is done by archive/lmdb.h.) The file is a function of what is added, and
/// appears as an AtomicFile. All members throw StorageError.
class LmdbWriter {
 public:
  explicit LmdbWriter(std::string path);
  ~LmdbWriter();
  LmdbWriter(const LmdbWriter&) = delete;
  LmdbWriter& operator=(const LmdbWriter&) = delete;

  /// REQUIRES: keys rise, and have 1 to 511 bytes.
  void add(std::string_view key, std::span<const uint8_t> value);
  /// REQUIRES: this is the last call.
  FileSum commit();

 private:
  struct Library;

  /// The action names what failed: "write".
  void require(int code, const char* action) const;
  void begin(uint64_t bytes);
  void end();

  const std::string path_;
  AtomicFile file_;
  std::unique_ptr<Library> library_;
  uint64_t waiting_ = 0;  // bytes that the transaction holds in memory
};

}  // namespace tandem
