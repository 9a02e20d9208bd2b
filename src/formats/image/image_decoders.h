#pragma once

#include "formats/image/image.h"

/// The rows of imageFormats(), one file each.
namespace tandem {

Result<Image> decodeJpeg(std::span<const uint8_t> bytes, const ImageLimits& limits);
Result<Image> decodePng(std::span<const uint8_t> bytes, const ImageLimits& limits);

}  // namespace tandem
