#include "formats/image/jpeg.h"

#include <turbojpeg.h>

#include <cstring>
#include <memory>

namespace tandem {
namespace {

using Decoder = std::unique_ptr<void, int (*)(tjhandle)>;

/// The library's message as one line.
ParseError refusal(tjhandle decoder) {
  std::string text = tjGetErrorStr2(decoder);
  return parseError(0, "damaged or of a kind that is not read: ", text.substr(0, text.find('\n')));
}

/// Counts start-of-scan markers. In coded data, 0xFF is only followed by 0 or a restart marker.
int64_t countScans(std::span<const uint8_t> bytes) {
  int64_t scans = 0;
  while (!bytes.empty()) {
    const auto* const mark = static_cast<const uint8_t*>(std::memchr(bytes.data(), 0xFF, bytes.size()));
    if (mark == nullptr) break;
    bytes = bytes.subspan(static_cast<size_t>(mark - bytes.data()) + 1);
    scans += !bytes.empty() && bytes.front() == 0xDA ? 1 : 0;
  }
  return scans;
}

}  // namespace

ParseError cmykRefusal() { return parseError(0, "its colours are CMYK, which is not read; convert it to RGB"); }

std::optional<std::string> scansFault(std::span<const uint8_t> bytes, const ImageLimits& limits) {
  const int64_t scans = countScans(bytes);
  if (scans <= limits.scans) return std::nullopt;
  return concat("it has ", scans, " scans; the limit is ", limits.scans);
}

Result<Image> decodeJpeg(std::span<const uint8_t> bytes, const ImageLimits& limits, Image image) {
  const Decoder decoder(tjInitDecompress(), tjDestroy);
  if (!decoder) return parseError(0, "the JPEG decoder cannot start: ", tjGetErrorStr2(nullptr));
  int width = 0, height = 0, subsampling = 0, colours = 0;
  if (tjDecompressHeader3(decoder.get(), bytes.data(), bytes.size(), &width, &height, &subsampling, &colours) != 0) {
    return refusal(decoder.get());
  }
  if (const auto fault = sizeFault(height, width, limits)) return parseError(0, *fault);
  if (colours == TJCS_CMYK || colours == TJCS_YCCK) return cmykRefusal();
  if (const auto fault = scansFault(bytes, limits)) return parseError(0, *fault);
  image.resize(height, width);
  // The library repairs damage silently unless it stops on warnings. Tandem refuses damaged images instead.
  constexpr int flags = TJFLAG_ACCURATEDCT | TJFLAG_STOPONWARNING | TJFLAG_LIMITSCANS;
  const int failed =
      tjDecompress2(decoder.get(), bytes.data(), bytes.size(), image.pixels.data(), width, 0, height, TJPF_RGB, flags);
  if (failed != 0) return refusal(decoder.get());
  return image;
}

}  // namespace tandem
