#pragma once

#include <cstdint>
#include <span>

namespace tandem {

/// Goes on with a CRC-32C over more bytes. The remainder is as the division leaves it, not inverted.
using Crc32cUpdate = uint32_t (*)(uint32_t remainder, std::span<const uint8_t> bytes);

/// The one that uses the processor's own instruction (SSE 4.2); null: it has none.
Crc32cUpdate crc32cInstruction();

}  // namespace tandem
