#pragma once

#include <cstdint>
#include <string_view>

namespace tandem {

/// CRC-32C (Castagnoli) of the bytes: RFC 3720, appendix B.4.
uint32_t crc32cOf(std::string_view bytes);

}  // namespace tandem
