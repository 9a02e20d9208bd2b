#pragma once

#include <cstdint>
#include <string>

namespace tandem {

/// An event file as TensorBoard reads it: TFRecords of protobuf messages. It is put together in memory; times are
/// seconds since 1970.
class EventFile {
 public:
  explicit EventFile(double time);

  /// TensorBoard keeps 32 bits of the value.
  void scalar(const std::string& tag, int64_t step, double time, double value);
  /// Markdown, shown under the plug-in "text".
  void text(const std::string& tag, double time, const std::string& markdown);

  const std::string& bytes() const { return bytes_; }

  /// Writes it, whole or not at all, as a new file with the name that TensorBoard looks for, and makes the folder
  /// first. Returns its path. Throws StorageError.
  std::string write(const std::string& folder) const;

 private:
  std::string bytes_;
  int64_t seconds_;
};

/// Makes a folder and those above it, and sees whether a file can be written there. Throws StorageError.
void makeFolder(const std::string& folder);

}  // namespace tandem
