#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "formats/weights/file_tensor.h"

namespace tandem {

struct WeightsFileOptions {
  uint64_t limitBytes = uint64_t{16} << 30;
  Slashes slashes = Slashes::refused;  ///< in names of safetensors; those of torch.save never have any
};

/// Trained weights in a file of any format that is read: safetensors, or torch.save's zip with a state dict. All of the
/// file is read and checked when it is opened, so that what was checked is what is used.
class WeightsFile {
 public:
  /// Finds the format by content. Throws CheckpointError naming the path, the byte and the rule when the bytes are
  /// refused, DataError when the file cannot be read or is larger than the limit.
  static WeightsFile open(const std::string& path, const WeightsFileOptions& options = {});

  const std::string& path() const { return path_; }
  const std::string& format() const { return format_; }  ///< "safetensors", "pth"
  /// Views of bytes that live as long as this, also when it is moved. See rowMajorBytes().
  std::span<const FileTensor> tensors() const { return tensors_; }
  const std::map<std::string, std::string>& metadata() const { return metadata_; }
  /// What a person should know of the file: "state dict under the key 'model'; not read: epoch". May be empty.
  const std::string& note() const { return note_; }
  /// Of the file's bytes, 64 hexadecimal digits, as sha256sum prints it.
  std::string sha256() const;

 private:
  std::string path_, format_, note_;
  std::vector<uint8_t> bytes_;
  std::vector<FileTensor> tensors_;
  std::map<std::string, std::string> metadata_;
};

}  // namespace tandem
