#pragma once

#include <string>
#include <string_view>

namespace tandem {

/// A record of a TFRecord file: 64-bit length, its masked CRC-32C, the bytes, their masked CRC-32C. All numbers are
/// little-endian.
std::string tfrecordOf(std::string_view bytes);

}  // namespace tandem
