#pragma once

#include <cstdint>
#include <functional>
#include <istream>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/error.h"
#include "formats/io/result.h"

namespace tandem {

/// The whole content of a regular file. Throws DataError with the path if it is missing, unreadable, not a regular
/// file, or shrinks while it is read. Throws it before allocating if the file is larger than `limitBytes`.
std::vector<uint8_t> readFile(const std::string& path, uint64_t limitBytes);

/// The first `bytes` bytes of a regular file, or all of a shorter one. Throws like readFile().
std::vector<uint8_t> readFileHead(const std::string& path, uint64_t bytes);

/// A regular file that is read in parts. Thread-safe. Throws as readFile().
class ReadableFile {
 public:
  explicit ReadableFile(std::string path);
  ~ReadableFile();
  const std::string& path() const { return path_; }
  uint64_t size() const { return size_; }
  /// Fills `out` with the bytes at `offset`. Throws DataError if the file ends before.
  void read(uint64_t offset, std::span<uint8_t> out) const;

 private:
  class Open;
  std::string path_;
  std::unique_ptr<Open> open_;
  uint64_t size_;
};

/// Fills `out` with the bytes of a file, or of what stands for one, at `offset`. Parsers ask for ranges within it
/// alone.
using ReadAt = std::function<void(uint64_t offset, std::span<uint8_t> out)>;

/// That of a file, which must outlive it.
inline ReadAt readerOf(const ReadableFile& file) {
  return [&file](uint64_t offset, std::span<uint8_t> out) { file.read(offset, out); };
}

/// Opens a file to be read from its beginning: a regular file, or a FIFO whose writer has opened it. A FIFO is read to
/// its end here. Throws DataError with the path if it cannot be opened, is a device, or if nobody writes to the FIFO.
std::unique_ptr<std::istream> openForReading(const std::string& path);

/// The parsed value. Throws `Failure` "PATH: byte OFFSET: TEXT" if the bytes were refused.
template <class Failure = DataError, class T>
T valueOrThrow(Result<T> result, const std::string& path) {
  if (result.ok()) return std::move(result.value());
  throw Failure(concat(path, ": byte ", result.error().offset, ": ", result.error().text));
}

}  // namespace tandem
