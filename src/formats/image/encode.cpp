#include "formats/image/encode.h"

#include <spng.h>
#include <turbojpeg.h>

#include <cstdlib>
#include <memory>

#include "base/error.h"

namespace tandem {
namespace {

constexpr int quality = 90;

std::vector<uint8_t> encodeJpeg(const Image& image) {
  const std::unique_ptr<void, int (*)(tjhandle)> encoder(tjInitCompress(), tjDestroy);
  check(encoder != nullptr, "the JPEG encoder starts");
  unsigned char* bytes = nullptr;
  unsigned long size = 0;
  const int failed =
      tjCompress2(encoder.get(), image.pixels.data(), static_cast<int>(image.width), 0, static_cast<int>(image.height),
                  TJPF_RGB, &bytes, &size, TJSAMP_420, quality, TJFLAG_ACCURATEDCT);
  const std::unique_ptr<unsigned char, void (*)(unsigned char*)> owned(bytes, tjFree);
  check(failed == 0, "a JPEG is encoded");
  return {bytes, bytes + size};
}

/// One channel of an image whose three are equal; empty: they are not.
std::vector<uint8_t> greyOf(std::span<const uint8_t> pixels) {
  std::vector<uint8_t> grey;
  grey.reserve(pixels.size() / 3);
  for (size_t at = 0; at < pixels.size(); at += 3) {
    if (pixels[at] != pixels[at + 1] || pixels[at] != pixels[at + 2]) return {};
    grey.push_back(pixels[at]);
  }
  return grey;
}

std::vector<uint8_t> encodePng(const Image& image) {
  const std::unique_ptr<spng_ctx, void (*)(spng_ctx*)> encoder(spng_ctx_new(SPNG_CTX_ENCODER), spng_ctx_free);
  check(encoder != nullptr, "the PNG encoder starts");
  spng_ihdr header{};
  header.width = static_cast<uint32_t>(image.width), header.height = static_cast<uint32_t>(image.height);
  const std::vector<uint8_t> grey = greyOf(image.pixels);
  const std::span<const uint8_t> pixels = grey.empty() ? image.pixels : grey;
  header.bit_depth = 8, header.color_type = grey.empty() ? SPNG_COLOR_TYPE_TRUECOLOR : SPNG_COLOR_TYPE_GRAYSCALE;
  spng_set_option(encoder.get(), SPNG_ENCODE_TO_BUFFER, 1);
  check(spng_set_ihdr(encoder.get(), &header) == 0, "the header of a PNG is set");
  const int failed = spng_encode_image(encoder.get(), pixels.data(), pixels.size(), SPNG_FMT_PNG, SPNG_ENCODE_FINALIZE);
  check(failed == 0, "a PNG is encoded");
  size_t size = 0;
  int error = 0;
  const std::unique_ptr<void, void (*)(void*)> bytes(spng_get_png_buffer(encoder.get(), &size, &error), std::free);
  check(bytes != nullptr && error == 0, "a PNG is encoded");
  const auto* const begin = static_cast<const uint8_t*>(bytes.get());
  return {begin, begin + size};
}

constexpr ImageEncoding table[] = {{"jpeg", encodeJpeg}, {"png", encodePng}};

}  // namespace

std::span<const ImageEncoding> imageEncodings() { return table; }

}  // namespace tandem
