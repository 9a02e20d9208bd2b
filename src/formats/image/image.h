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

  /// Takes this size. What the pixels are then is not said.
  void resize(int64_t newHeight, int64_t newWidth) {
    height = newHeight, width = newWidth;
    pixels.resize(static_cast<size_t>(height) * static_cast<size_t>(width) * 3);
  }
};

/// Limits on an image. They are checked before anything of its size is allocated.
struct ImageLimits {
  int64_t pixels = int64_t{1} << 26;
  int64_t edge = 1 << 15;  ///< of height or width, in pixels
  int64_t scans = 100;     ///< of a progressive JPEG, each of which costs a pass over the image
};

struct ImageExtent {
  int64_t height = 0, width = 0;
};

/// A rectangle of an image, in its pixels, and by what its sides are reduced.
struct ImagePart {
  int64_t top = 0, left = 0, height = 0, width = 0;
  int64_t shrink = 1;  ///< 1, 2, 4 or 8
};

/// A row of the image formats. The first bytes tell them apart.
struct ImageFormat {
  std::string_view name, ending;  ///< "JPEG", ".jpg"
  std::string_view signature;
  Result<Image> (*decode)(std::span<const uint8_t> bytes, const ImageLimits& limits, Image memory);
  /// Null, both: images are decoded as a whole.
  Result<ImageExtent> (*extent)(std::span<const uint8_t> bytes, const ImageLimits& limits) = nullptr;
  Result<Image> (*decodePart)(std::span<const uint8_t> bytes, const ImagePart& part, Image memory) = nullptr;
};

std::span<const ImageFormat> imageFormats();

/// The row whose signature stands at the beginning of the bytes.
Result<const ImageFormat*> imageFormatOf(std::span<const uint8_t> bytes);

/// Decodes a JPEG (8 bits, grey or colour; not CMYK) or a PNG (any; 16 bits are cut to 8, transparency is dropped).
/// Refuses damaged files, even if the library could go on. Does not apply orientation or colour profiles. `memory`: an
/// image that is no longer needed, whose memory then need not be taken anew.
Result<Image> decodeImage(std::span<const uint8_t> bytes, const ImageLimits& limits = {}, Image memory = {});

/// The size of an image that can be decoded in parts, by its header; 0 x 0 if its format is decoded as a whole. Refuses
/// what decodeImage() refuses by the header.
Result<ImageExtent> partExtent(std::span<const uint8_t> bytes, const ImageLimits& limits = {});

/// Decodes a part of a JPEG faster than the whole. Rows behind it are not read, unless the JPEG is progressive. Blocks
/// beside it are not transformed. A reduced size is transformed as such. The inverse transform is coarser than
/// decodeImage()'s, and colours are repeated, not interpolated. With a shrink the part is widened to whole pixels of
/// the reduced image. Refuses damage in what is read. REQUIRES: partExtent() gave a size, and the part lies within.
Result<Image> decodeImagePart(std::span<const uint8_t> bytes, const ImagePart& part, Image memory = {});

/// An error text if these sizes break the limits.
std::optional<std::string> sizeFault(int64_t height, int64_t width, const ImageLimits& limits);

/// The decoders of imageFormats(), one source each.
Result<Image> decodeJpeg(std::span<const uint8_t> bytes, const ImageLimits& limits, Image memory);
Result<Image> decodePng(std::span<const uint8_t> bytes, const ImageLimits& limits, Image memory);
Result<ImageExtent> jpegExtent(std::span<const uint8_t> bytes, const ImageLimits& limits);
Result<Image> decodeJpegPart(std::span<const uint8_t> bytes, const ImagePart& part, Image memory);

}  // namespace tandem
