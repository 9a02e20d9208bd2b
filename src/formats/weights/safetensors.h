#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "formats/io/atomic_file.h"
#include "formats/io/result.h"
#include "formats/weights/file_tensor.h"

namespace tandem {

struct SafetensorsLimits {
  uint64_t headerBytes = 100'000'000;  ///< the limit of the safetensors library
  uint64_t tensors = 1 << 16;
  uint64_t metadataBytes = 16 << 20;   ///< names and values together
  Slashes slashes = Slashes::refused;  ///< in tensor names
};

/// A safetensors file (https://github.com/huggingface/safetensors#format): eight bytes with the size of the header, a
/// JSON header, and the tensors' bytes without gaps. The tensors refer to the parsed bytes.
struct Safetensors {
  std::vector<FileTensor> tensors;              ///< in the order of their bytes
  std::map<std::string, std::string> metadata;  ///< the entry __metadata__
};

/// True if the bytes start like a safetensors file of any size.
bool isSafetensors(std::span<const uint8_t> head);

/// Refuses what the safetensors library refuses. Also refuses unknown fields, types outside elementTypes(), names that
/// nameFault() rejects, repeated names, and sizes over the limits. The limits bound the memory used beyond the bytes
/// themselves.
Result<Safetensors> parseSafetensors(std::span<const uint8_t> bytes, const SafetensorsLimits& limits = {});

/// The size field and the header of a file with these tensors' bytes, row-major, in this order. Padded to a multiple of
/// 8. REQUIRES: nameFault() accepts the names.
std::string safetensorsHeader(std::span<const FileTensor> tensors, const std::map<std::string, std::string>& metadata);

/// The tensors in the order of the safetensors library: wider types first, then by name. So every tensor is aligned.
std::vector<FileTensor> inSafetensorsOrder(std::vector<FileTensor> tensors);

/// Appends such a file's bytes to an empty file. Throws StorageError.
void appendSafetensors(AtomicFile& file, std::vector<FileTensor> tensors,
                       const std::map<std::string, std::string>& metadata);

/// Writes the file as AtomicFile does. Throws StorageError.
void writeSafetensors(const std::string& path, std::vector<FileTensor> tensors,
                      const std::map<std::string, std::string>& metadata);

}  // namespace tandem
