#include "formats/archive/gzip.h"

#include <zlib.h>

#include <algorithm>
#include <optional>

#include "base/error.h"

namespace tandem {
namespace {

constexpr uint64_t leastChunkBytes = 4 << 10;
constexpr uint64_t chunkBytes = 256 << 10;
constexpr int gzipWindow = 15 + 16;  // zlib's code for the largest window, with gzip header and checked trailer

class Inflater {
 public:
  Inflater(std::span<const uint8_t> bytes, uint64_t chunk) : bytes_(bytes), chunk_(chunk) {
    if (inflateInit2(&stream_, gzipWindow) != Z_OK) throw InternalError("zlib could not start");
  }
  ~Inflater() { inflateEnd(&stream_); }
  Inflater(const Inflater&) = delete;
  Inflater& operator=(const Inflater&) = delete;

  /// Appends the next chunk of output. Returns zlib's last status.
  int append(std::vector<uint8_t>& out) {
    stream_.next_out = chunk_.data();
    stream_.avail_out = static_cast<uInt>(chunk_.size());
    int verdict = Z_OK;
    while (verdict == Z_OK && stream_.avail_out > 0) {
      refill();
      verdict = inflate(&stream_, Z_NO_FLUSH);
    }
    out.insert(out.end(), chunk_.begin(), chunk_.end() - stream_.avail_out);
    return verdict;
  }

  uint64_t consumed() const { return fed_ - stream_.avail_in; }
  std::span<const uint8_t> rest() const { return bytes_.subspan(consumed()); }
  void nextMember() { inflateReset(&stream_); }
  const char* message() const { return stream_.msg != nullptr ? stream_.msg : "damaged"; }

 private:
  void refill() {
    if (stream_.avail_in > 0) return;
    const uint64_t count = std::min<uint64_t>(bytes_.size() - fed_, uint64_t{1} << 30);
    stream_.next_in = const_cast<Bytef*>(bytes_.data() + fed_);
    stream_.avail_in = static_cast<uInt>(count);
    fed_ += count;
  }

  std::span<const uint8_t> bytes_;
  std::vector<uint8_t> chunk_;
  z_stream stream_{};
  uint64_t fed_ = 0;
};

std::optional<ParseError> refuseOutput(uint64_t output, uint64_t input, const GzipLimits& limits) {
  if (output > limits.outputBytes) {
    return parseError(input, "the gzip file unpacks to more than the limit of ", limits.outputBytes, " bytes");
  }
  if (output > limits.ratioFrom && output / std::max<uint64_t>(input, 1) >= limits.ratio) {
    return parseError(input, "the gzip file unpacks to ", output, " bytes from ", input, ", over the limit of ",
                      limits.ratio, " to 1: refused as a decompression bomb");
  }
  return std::nullopt;
}

}  // namespace

bool isGzip(std::span<const uint8_t> head) { return head.size() >= 2 && head[0] == 0x1F && head[1] == 0x8B; }

Result<std::vector<uint8_t>> gunzip(std::span<const uint8_t> bytes, const GzipLimits& limits) {
  if (!isGzip(bytes)) return parseError(0, "not a gzip file: it must start with 1f 8b");
  Inflater inflater(bytes, std::clamp<uint64_t>(4 * bytes.size(), leastChunkBytes, chunkBytes));
  std::vector<uint8_t> out;
  for (;;) {
    const int verdict = inflater.append(out);
    if (auto error = refuseOutput(out.size(), inflater.consumed(), limits)) return *error;
    if (verdict == Z_OK) continue;
    if (verdict == Z_BUF_ERROR) {
      return parseError(bytes.size(), "the gzip file ends in the middle of its data; truncated, fetch it again");
    }
    if (verdict != Z_STREAM_END) {
      return parseError(inflater.consumed(), "the gzip file is damaged (", inflater.message(), "); fetch it again");
    }
    if (inflater.rest().empty()) return out;
    if (!isGzip(inflater.rest())) {
      return parseError(inflater.consumed(), inflater.rest().size(), " bytes follow the end of the gzip data");
    }
    inflater.nextMember();
  }
}

std::vector<uint8_t> gunzipHead(std::span<const uint8_t> bytes, uint64_t outputBytes) {
  std::vector<uint8_t> out;
  if (!isGzip(bytes) || outputBytes == 0) return out;
  Inflater(bytes, std::min(outputBytes, chunkBytes)).append(out);
  return out;
}

}  // namespace tandem
