#pragma once

#include <string_view>
#include <vector>

#include "formats/weights/safetensors.h"

namespace tandem {

/// A tensor as the header describes it. Only the types of the values have been checked.
struct HeaderTensor {
  FileTensor tensor;            ///< its `bytes` are empty
  uint64_t begin = 0, end = 0;  ///< byte range after the header
};

struct SafetensorsHeader {
  std::vector<HeaderTensor> tensors;
  std::map<std::string, std::string> metadata;
};

/// Reads the JSON text. Offsets of errors are in that text.
Result<SafetensorsHeader> readSafetensorsHeader(std::string_view json, const SafetensorsLimits& limits);

}  // namespace tandem
