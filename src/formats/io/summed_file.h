#pragma once

#include <cstdint>
#include <string>

#include "formats/io/atomic_file.h"
#include "formats/io/checksum.h"

namespace tandem {

/// Length and SHA-256 of what was written.
struct FileSum {
  uint64_t bytes = 0;
  std::string sha256;
};

/// An AtomicFile that counts and sums what is appended. Throws as that.
class SummedFile {
 public:
  explicit SummedFile(std::string path) : file_(std::move(path)) {}

  void append(std::span<const uint8_t> bytes) {
    file_.append(bytes);
    sum_.add(bytes);
    bytes_ += bytes.size();
  }
  uint64_t bytes() const { return bytes_; }

  /// REQUIRES: this is the last call.
  FileSum commit() {
    file_.commit();
    return {bytes_, sum_.text()};
  }

 private:
  AtomicFile file_;
  Sha256 sum_;
  uint64_t bytes_ = 0;
};

}  // namespace tandem
