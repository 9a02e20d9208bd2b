#pragma once

#include <cstdint>
#include <span>
#include <string>

namespace tandem {

/// An event file for TensorBoard: TFRecords of protobuf messages. It is built in memory. Times are seconds since 1970.
class EventFile {
 public:
  explicit EventFile(double time);

  /// Adds a point. TensorBoard keeps 32 bits of the value.
  void scalar(const std::string& tag, int64_t step, double time, double value);
  /// Adds a picture that is encoded as PNG. Its size and channels are read from its header. REQUIRES: a PNG.
  void image(const std::string& tag, int64_t step, double time, std::span<const uint8_t> png);
  /// Adds Markdown, which the plug-in "text" shows.
  void text(const std::string& tag, double time, const std::string& markdown);

  const std::string& bytes() const { return bytes_; }

  /// Makes the folder and writes a new file, whole or not at all, under a name that TensorBoard looks for. Returns its
  /// path. Throws StorageError.
  std::string write(const std::string& folder) const;

 private:
  std::string bytes_;
  int64_t seconds_;
};

}  // namespace tandem
