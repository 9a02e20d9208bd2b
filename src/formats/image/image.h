#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "formats/io/result.h"

namespace tandem {

/// A decoded image.
struct Image {
  int64_t height = 0, width = 0;
  std::vector<uint8_t> pixels;  ///< [height, width, 3]: red, green, blue; grey is repeated
};

/// Limits on an image. They are checked before anything of its size is allocated.
struct ImageLimits {
  int64_t pixels = int64_t{1} << 26;
  int64_t edge = 1 << 15;  ///< of height or width, in pixels
  int64_t scans = 100;     ///< of a progressive JPEG, each of which costs a pass over the image
};

/// A row of the image formats. The first bytes tell them apart.
struct ImageFormat {
  std::string_view name;
  std::string_view signature;
  Result<Image> (*decode)(std::span<const uint8_t> bytes, const ImageLimits& limits);
};

std::span<const ImageFormat> imageFormats();

/// Decodes a JPEG (8 bits, grey or colour; not CMYK) or a PNG (any; 16 bits are cut to 8, transparency is dropped).
/// Refuses damaged files, even if the library could go on. Does not apply orientation or colour profiles.
Result<Image> decodeImage(std::span<const uint8_t> bytes, const ImageLimits& limits = {});

/// An error text if these sizes break the limits.
std::optional<std::string> sizeFault(int64_t height, int64_t width, const ImageLimits& limits);

/// The decoders of imageFormats(), one source each.
Result<Image> decodeJpeg(std::span<const uint8_t> bytes, const ImageLimits& limits);
Result<Image> decodePng(std::span<const uint8_t> bytes, const ImageLimits& limits);

}  // namespace tandem
