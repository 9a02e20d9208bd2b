#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "formats/weights/file_tensor.h"

namespace tandem {

struct WeightsFileOptions {
  uint64_t limitBytes = uint64_t{16} << 30;
  Slashes slashes = Slashes::refused;  ///< in names of safetensors; names of torch.save have none
};

/// Trained weights in a file: safetensors, torch.save's zip with a state dict, or those of a network that brings its
/// own. Opening reads and checks the whole file, so the checked bytes are the bytes used.
class WeightsFile {
 public:
  /// Recognises the format by content. Throws CheckpointError with the path, the byte and the rule if the bytes are
  /// refused. Throws DataError if the file cannot be read or exceeds the limit.
  static WeightsFile open(const std::string& path, const WeightsFileOptions& options = {});

  /// What another reader found in a file.
  struct Content {
    std::string path, format, note;
    std::vector<FileTensor> tensors;     ///< views of the bytes and of `memory`
    std::shared_ptr<const void> memory;  ///< of tensors that are not in the file's bytes
  };
  static WeightsFile of(std::vector<uint8_t> bytes, Content content);

  const std::string& path() const { return path_; }
  const std::string& format() const { return format_; }  ///< "safetensors", "pth", or that of Content
  /// The tensors; see rowMajorBytes(). Their bytes live as long as this object, also after a move.
  std::span<const FileTensor> tensors() const { return tensors_; }
  const std::map<std::string, std::string>& metadata() const { return metadata_; }
  /// A note for the user: "state dict under the key 'model'; not read: epoch". May be empty.
  const std::string& note() const { return note_; }
  /// SHA-256 of the file's bytes as 64 hexadecimal digits, as sha256sum prints it.
  std::string sha256() const;

 private:
  std::string path_, format_, note_;
  std::vector<uint8_t> bytes_;
  std::vector<FileTensor> tensors_;
  std::shared_ptr<const void> memory_;
  std::map<std::string, std::string> metadata_;
};

}  // namespace tandem
