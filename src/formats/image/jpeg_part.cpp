// Parts of a JPEG by libjpeg's own interface. It reports errors by a function that must not return, so this file leaves
// it by longjmp: no object with a destructor may live between setjmp() and the last call of the library.
#include <cstddef>
#include <cstdio>
// libjpeg's header needs the two above.
#include <jerror.h>
#include <jpeglib.h>

#include <algorithm>
#include <array>
#include <csetjmp>
#include <cstring>
#include <utility>

#include "formats/image/jpeg.h"

namespace tandem {
namespace {

/// A decoder whose errors and warnings end in `leave`, with the library's message.
struct Decoder {
  jpeg_decompress_struct state;
  jpeg_error_mgr errors;
  std::jmp_buf leave;
  std::array<char, JMSG_LENGTH_MAX> message;
};

[[noreturn]] void fail(j_common_ptr state) {
  auto* const decoder = static_cast<Decoder*>(state->client_data);
  (*state->err->format_message)(state, decoder->message.data());
  std::longjmp(decoder->leave, 1);
}

/// The library repairs damage and warns, by a level below 0. Tandem refuses damaged images instead.
void heed(j_common_ptr state, int level) {
  if (level < 0) fail(state);
}

/// Starts the decoder and reads the header. False after an error, whose message is in the decoder.
bool readHeader(Decoder& decoder, std::span<const uint8_t> bytes) {
  if (setjmp(decoder.leave) != 0) return false;
  decoder.state.err = jpeg_std_error(&decoder.errors);
  decoder.errors.error_exit = fail;
  decoder.errors.emit_message = heed;
  decoder.state.client_data = &decoder;
  jpeg_create_decompress(&decoder.state);
  jpeg_mem_src(&decoder.state, bytes.data(), bytes.size());
  jpeg_read_header(&decoder.state, TRUE);
  return true;
}

/// Where a part lies in the image as it is decoded, in pixels of that.
struct Window {
  JDIMENSION top, left, height, width;
};

Window windowOf(const ImagePart& part) {
  const auto low = [&](int64_t value) { return static_cast<JDIMENSION>(value / part.shrink); };
  const auto high = [&](int64_t value) { return static_cast<JDIMENSION>((value + part.shrink - 1) / part.shrink); };
  const JDIMENSION top = low(part.top), left = low(part.left);
  return {top, left, high(part.top + part.height) - top, high(part.left + part.width) - left};
}

constexpr JDIMENSION bytesPerPixel = 3;

/// Decodes rows of the part into `out`, and leaves the others out. `row` has room for the whole width.
bool readPart(Decoder& decoder, const Window& window, int64_t shrink, uint8_t* row, uint8_t* out) {
  if (setjmp(decoder.leave) != 0) return false;
  jpeg_decompress_struct& state = decoder.state;
  state.out_color_space = JCS_RGB;
  state.scale_num = 1, state.scale_denom = static_cast<unsigned>(shrink);
  state.dct_method = JDCT_IFAST;
  state.do_fancy_upsampling = FALSE;
  jpeg_start_decompress(&state);
  JDIMENSION left = window.left, width = window.width;
  jpeg_crop_scanline(&state, &left, &width);  // widens to whole blocks
  if (window.top > 0) jpeg_skip_scanlines(&state, window.top);
  for (JDIMENSION y = 0; y < window.height; ++y) {
    jpeg_read_scanlines(&state, &row, 1);
    const uint8_t* const from = row + (window.left - left) * bytesPerPixel;
    std::memcpy(out + static_cast<size_t>(y) * window.width * bytesPerPixel, from, window.width * bytesPerPixel);
  }
  jpeg_abort_decompress(&state);
  return true;
}

/// Frees what the library holds.
struct Destroyed {
  Decoder& decoder;
  ~Destroyed() { jpeg_destroy_decompress(&decoder.state); }
};

ParseError refusalOf(const Decoder& decoder) {
  return parseError(0, "damaged or of a kind that is not read: ", decoder.message.data());
}

}  // namespace

Result<ImageExtent> jpegExtent(std::span<const uint8_t> bytes, const ImageLimits& limits) {
  Decoder decoder{};
  const Destroyed atEnd{decoder};
  if (!readHeader(decoder, bytes)) return refusalOf(decoder);
  const jpeg_decompress_struct& state = decoder.state;
  if (const auto fault = sizeFault(state.image_height, state.image_width, limits)) return parseError(0, *fault);
  if (state.jpeg_color_space == JCS_CMYK || state.jpeg_color_space == JCS_YCCK) return cmykRefusal();
  if (const auto fault = scansFault(bytes, limits)) return parseError(0, *fault);
  return ImageExtent{state.image_height, state.image_width};
}

Result<Image> decodeJpegPart(std::span<const uint8_t> bytes, const ImagePart& part, Image image) {
  Decoder decoder{};
  const Destroyed atEnd{decoder};
  if (!readHeader(decoder, bytes)) return refusalOf(decoder);
  const Window window = windowOf(part);
  image.resize(window.height, window.width);
  std::vector<uint8_t> row((size_t{decoder.state.image_width} + 1) * bytesPerPixel);
  if (!readPart(decoder, window, part.shrink, row.data(), image.pixels.data())) return refusalOf(decoder);
  return image;
}

}  // namespace tandem
