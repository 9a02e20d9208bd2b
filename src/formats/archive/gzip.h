#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "formats/io/result.h"

namespace tandem {

struct GzipLimits {
  uint64_t outputBytes = uint64_t{4} << 30;
  uint64_t ratio = 200;                    ///< most output / input; checked once the output exceeds `ratioFrom`
  uint64_t ratioFrom = uint64_t{1} << 20;  ///< bytes of output
};

bool isGzip(std::span<const uint8_t> head);

/// Inflates all members of a gzip file (RFC 1952). Memory grows with the actual output, not with sizes that the file
/// claims. Refuses a wrong checksum, a truncated file, bytes after the last member, and output over the limits.
Result<std::vector<uint8_t>> gunzip(std::span<const uint8_t> bytes, const GzipLimits& limits = {});

/// Inflates at most the first `outputBytes` bytes to recognise the content, without checking the rest. Empty if nothing
/// can be inflated.
std::vector<uint8_t> gunzipHead(std::span<const uint8_t> bytes, uint64_t outputBytes);

}  // namespace tandem
