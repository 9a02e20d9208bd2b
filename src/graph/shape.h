#pragma once

#include <cstdint>
#include <string>

namespace tandem {

/// Shape of a value for one image, without the batch dimension: [C, H, W]. A feature vector is [C, 1, 1].
struct ImageShape {
  int64_t channels = 0;
  int64_t height = 1;
  int64_t width = 1;

  int64_t count() const { return channels * height * width; }
  bool operator==(const ImageShape&) const = default;
};

/// "[3, 224, 224]".
std::string shapeText(const ImageShape& shape);

}  // namespace tandem
