#include "formats/image/image.h"

#include <algorithm>
#include <utility>

namespace tandem {
namespace {

constexpr ImageFormat table[] = {
    {"JPEG", ".jpg", "\xFF\xD8\xFF", decodeJpeg, jpegExtent, decodeJpegPart},
    {"PNG", ".png", "\x89PNG\r\n\x1A\n", decodePng},
};

}  // namespace

std::span<const ImageFormat> imageFormats() { return table; }

Result<const ImageFormat*> imageFormatOf(std::span<const uint8_t> bytes) {
  if (bytes.empty()) return parseError(0, "the file is empty");
  const std::string_view head(reinterpret_cast<const char*>(bytes.data()), std::min<size_t>(bytes.size(), 16));
  for (const ImageFormat& format : table) {
    if (head.starts_with(format.signature)) return &format;
  }
  return parseError(0, "it starts neither like a JPEG nor like a PNG file, the formats that are read");
}

std::optional<std::string> sizeFault(int64_t height, int64_t width, const ImageLimits& limits) {
  if (height < 1 || width < 1) return concat("it is ", width, 'x', height, " pixels; both must be at least 1");
  if (std::max(height, width) > limits.edge || height * width > limits.pixels) {
    return concat("it is ", width, 'x', height, " pixels; the limits are ", limits.edge, " for an edge and ",
                  limits.pixels, " in all");
  }
  return std::nullopt;
}

Result<Image> decodeImage(std::span<const uint8_t> bytes, const ImageLimits& limits, Image memory) {
  const auto format = imageFormatOf(bytes);
  return format ? format.value()->decode(bytes, limits, std::move(memory)) : Result<Image>(format.error());
}

Result<ImageExtent> partExtent(std::span<const uint8_t> bytes, const ImageLimits& limits) {
  const auto format = imageFormatOf(bytes);
  if (!format) return format.error();
  return format.value()->extent != nullptr ? format.value()->extent(bytes, limits) : ImageExtent{};
}

Result<Image> decodeImagePart(std::span<const uint8_t> bytes, const ImagePart& part, Image memory) {
  const auto format = imageFormatOf(bytes);
  return format ? format.value()->decodePart(bytes, part, std::move(memory)) : Result<Image>(format.error());
}

}  // namespace tandem
