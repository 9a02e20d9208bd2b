#include "formats/io/crc32c_instruction.h"

#include <nmmintrin.h>

#include <cstring>

namespace tandem {
namespace {

__attribute__((target("sse4.2"))) uint32_t update(uint32_t remainder, std::span<const uint8_t> bytes) {
  uint64_t wide = remainder;
  for (; bytes.size() >= sizeof(uint64_t); bytes = bytes.subspan(sizeof(uint64_t))) {
    uint64_t word = 0;
    std::memcpy(&word, bytes.data(), sizeof word);
    wide = _mm_crc32_u64(wide, word);
  }
  auto narrow = static_cast<uint32_t>(wide);
  for (const uint8_t byte : bytes) narrow = _mm_crc32_u8(narrow, byte);
  return narrow;
}

}  // namespace

Crc32cUpdate crc32cInstruction() { return __builtin_cpu_supports("sse4.2") ? update : nullptr; }

}  // namespace tandem
