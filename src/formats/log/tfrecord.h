#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace tandem {

/// The checksum that stands in TFRecord files: CRC-32C, rotated, plus a constant, so that the CRC of bytes that hold
/// CRCs does not degenerate.
uint32_t maskedCrc32c(std::string_view bytes);

/// A record of a TFRecord file: 64-bit length, its masked CRC-32C, the bytes, their masked CRC-32C. All numbers are
/// little-endian.
std::string tfrecordOf(std::string_view bytes);

}  // namespace tandem
