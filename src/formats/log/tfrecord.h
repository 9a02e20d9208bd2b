#pragma once

#include <string>
#include <string_view>

namespace tandem {

/// A record of a TFRecord file: length (64 bits), its masked CRC-32C, the bytes, their masked CRC-32C; little-endian.
std::string tfrecordOf(std::string_view bytes);

}  // namespace tandem
