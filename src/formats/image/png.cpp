#include <spng.h>

#include <algorithm>
#include <array>
#include <memory>

#include "formats/image/image.h"

namespace tandem {
namespace {

constexpr size_t chunkBytes = 4 << 20, allChunkBytes = 16 << 20;  // limits on inflated texts and profiles

ParseError refusal(int code) { return parseError(0, "damaged or of a kind that is not read: ", spng_strerror(code)); }

/// Whether the file ends with IEND, which is always the same. The library does not check its checksum.
bool hasEnd(std::span<const uint8_t> bytes) {
  constexpr std::array<uint8_t, 12> end{0, 0, 0, 0, 'I', 'E', 'N', 'D', 0xAE, 0x42, 0x60, 0x82};
  return std::search(bytes.begin(), bytes.end(), end.begin(), end.end()) != bytes.end();
}

}  // namespace

Result<Image> decodePng(std::span<const uint8_t> bytes, const ImageLimits& limits, Image image) {
  const std::unique_ptr<spng_ctx, void (*)(spng_ctx*)> context(spng_ctx_new(0), spng_ctx_free);
  if (!context) return parseError(0, "the PNG decoder cannot start");
  spng_ctx* const png = context.get();
  spng_set_chunk_limits(png, chunkBytes, allChunkBytes);
  spng_set_png_buffer(png, bytes.data(), bytes.size());
  spng_ihdr header{};
  if (const int code = spng_get_ihdr(png, &header)) return refusal(code);
  if (const auto fault = sizeFault(header.height, header.width, limits)) return parseError(0, *fault);
  size_t size = 0;
  if (const int code = spng_decoded_image_size(png, SPNG_FMT_RGB8, &size)) return refusal(code);
  image.resize(header.height, header.width);
  if (const int code = spng_decode_image(png, image.pixels.data(), size, SPNG_FMT_RGB8, 0)) return refusal(code);
  if (const int code = spng_decode_chunks(png)) return refusal(code);
  if (!hasEnd(bytes)) return parseError(bytes.size(), "it has no end; truncated, fetch the file again");
  return image;
}

}  // namespace tandem
