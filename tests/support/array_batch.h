#pragma once

#include <algorithm>
#include <cstdint>
#include <string_view>
#include <vector>

#include "formats/dataset/array_message.h"

namespace tandem {

/// An array of which every byte is `value`.
struct FilledArray {
  std::string_view type;
  std::vector<int64_t> shape;
  uint8_t value = 0;
};

inline std::vector<uint8_t> messageOf(const std::vector<FilledArray>& arrays) {
  std::vector<std::vector<uint8_t>> values;
  std::vector<MessageArray> parts;
  for (const FilledArray& array : arrays) {
    const ArrayType& type = *std::ranges::find(arrayTypes(), array.type, &ArrayType::name);
    int64_t bytes = type.bytes;
    for (const int64_t side : array.shape) bytes *= side;
    values.emplace_back(static_cast<size_t>(bytes), array.value);
    parts.push_back({&type, array.shape, {}});
  }
  for (size_t i = 0; i < parts.size(); ++i) parts[i].bytes = values[i];
  return arrayMessage(parts);
}

}  // namespace tandem
