#pragma once

#include <string_view>
#include <vector>

#include "formats/weights/safetensors.h"

namespace tandem {

/// A tensor as the header describes it; nothing but the types of the values was checked.
struct HeaderTensor {
  FileTensor tensor;            ///< without bytes
  uint64_t begin = 0, end = 0;  ///< of its bytes, after the header
};

struct SafetensorsHeader {
  std::vector<HeaderTensor> tensors;
  std::map<std::string, std::string> metadata;
};

/// Reads the JSON text. Offsets of errors are in the text.
Result<SafetensorsHeader> readSafetensorsHeader(std::string_view json, const SafetensorsLimits& limits);

}  // namespace tandem
