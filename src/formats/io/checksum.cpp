#include "formats/io/checksum.h"

#include <openssl/sha.h>

#include <array>

namespace tandem {
namespace {

constexpr uint32_t reversedPolynomial = 0x82f63b78;

constexpr std::array<uint32_t, 256> table = [] {
  std::array<uint32_t, 256> remainders{};
  for (uint32_t byte = 0; byte < remainders.size(); ++byte) {
    uint32_t remainder = byte;
    for (int bit = 0; bit < 8; ++bit) remainder = (remainder >> 1) ^ (remainder & 1 ? reversedPolynomial : 0);
    remainders[byte] = remainder;
  }
  return remainders;
}();

}  // namespace

uint32_t crc32cOf(std::string_view bytes) {
  uint32_t remainder = ~uint32_t{0};
  for (const char byte : bytes) remainder = (remainder >> 8) ^ table[(remainder ^ static_cast<uint8_t>(byte)) & 0xff];
  return ~remainder;
}

std::string sha256Of(std::span<const uint8_t> bytes) {
  constexpr std::string_view digits = "0123456789abcdef";
  std::array<uint8_t, SHA256_DIGEST_LENGTH> digest{};
  SHA256(bytes.data(), bytes.size(), digest.data());
  std::string text;
  for (const uint8_t byte : digest) {
    text += digits[byte >> 4];
    text += digits[byte & 15];
  }
  return text;
}

}  // namespace tandem
