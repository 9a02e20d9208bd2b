#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "formats/io/result.h"

namespace tandem {

struct GzipLimits {
  uint64_t outputBytes = uint64_t{4} << 30;
  uint64_t ratio = 200;                    ///< output / input, once the output is larger than `ratioFrom`
  uint64_t ratioFrom = uint64_t{1} << 20;  ///< bytes
};

bool isGzip(std::span<const uint8_t> head);

/// Inflates all members of a gzip file (RFC 1952); memory grows with the output that is really there. Refuses a wrong
/// checksum, a truncated file, bytes after the last member, and output over the limits.
Result<std::vector<uint8_t>> gunzip(std::span<const uint8_t> bytes, const GzipLimits& limits = {});

/// At most the first `outputBytes` bytes of the output, without checking the rest: to look at what is inside. Empty
/// when nothing can be inflated.
std::vector<uint8_t> gunzipHead(std::span<const uint8_t> bytes, uint64_t outputBytes);

}  // namespace tandem
