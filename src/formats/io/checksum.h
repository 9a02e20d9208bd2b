#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace tandem {

/// CRC-32C (Castagnoli) of the bytes: RFC 3720, appendix B.4.
uint32_t crc32cOf(std::string_view bytes);

/// SHA-256 of the bytes as 64 hexadecimal digits, as sha256sum prints it.
std::string sha256Of(std::span<const uint8_t> bytes);

}  // namespace tandem
