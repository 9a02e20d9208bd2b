#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "formats/io/result.h"
#include "formats/weights/file_tensor.h"

namespace tandem {

struct SafetensorsLimits {
  uint64_t headerBytes = 100'000'000;  ///< that of the safetensors library
  uint64_t tensors = 1 << 16;
  uint64_t metadataBytes = 16 << 20;   ///< names and values together
  Slashes slashes = Slashes::refused;  ///< in names
};

/// A safetensors file: eight bytes with the size of the header, a JSON header, the tensors' bytes without gaps.
/// See https://github.com/huggingface/safetensors#format. The tensors are views of the bytes parsed.
struct Safetensors {
  std::vector<FileTensor> tensors;              ///< in the order of their bytes
  std::map<std::string, std::string> metadata;  ///< of the entry __metadata__
};

/// True when the bytes start like a safetensors file of any size.
bool isSafetensors(std::span<const uint8_t> head);

/// Refuses what the safetensors library refuses, and besides: unknown fields, types that are not in elementTypes(),
/// names that nameFault() names, repeated names, and what exceeds the limits. Memory beyond the bytes themselves is
/// bounded by the limits.
Result<Safetensors> parseSafetensors(std::span<const uint8_t> bytes, const SafetensorsLimits& limits = {});

/// The size and the header of a file with these tensors' bytes, row-major, in this order; padded to a multiple of 8.
/// REQUIRES: names that nameFault() accepts.
std::string safetensorsHeader(std::span<const FileTensor> tensors, const std::map<std::string, std::string>& metadata);

/// The tensors in the order in which the safetensors library writes them, so that each is aligned: wider types first,
/// then by name.
std::vector<FileTensor> inSafetensorsOrder(std::vector<FileTensor> tensors);

/// Writes a new file that replaces `path` when it is complete and on disk. Throws StorageError.
void writeSafetensors(const std::string& path, std::vector<FileTensor> tensors,
                      const std::map<std::string, std::string>& metadata);

}  // namespace tandem
