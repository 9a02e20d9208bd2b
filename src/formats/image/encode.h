#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "formats/image/image.h"

namespace tandem {

/// A row of the formats in which images are written.
struct ImageEncoding {
  std::string_view name;
  std::vector<uint8_t> (*encode)(const Image& image);
};

/// jpeg (baseline, 4:2:0, quality 90) and png (8 bits; grey where all pixels are, else colour).
std::span<const ImageEncoding> imageEncodings();

}  // namespace tandem
