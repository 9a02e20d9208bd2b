#include "formats/io/checksum.h"

#include <openssl/evp.h>
#include <openssl/sha.h>

#include <array>
#include <cstddef>

#include "base/error.h"
#include "base/text.h"
#include "formats/io/crc32c_instruction.h"
#include "formats/io/little_endian.h"

namespace tandem {
namespace {

constexpr uint32_t reversedPolynomial = 0x82f63b78;
constexpr size_t wordBytes = 8;
using Table = std::array<uint32_t, 256>;

/// Table n has the remainder of each byte with n bytes of zeros behind it.
constexpr std::array<Table, wordBytes> tables = [] {
  std::array<Table, wordBytes> all{};
  for (uint32_t byte = 0; byte < all[0].size(); ++byte) {
    uint32_t remainder = byte;
    for (int bit = 0; bit < 8; ++bit) remainder = (remainder >> 1) ^ (remainder & 1 ? reversedPolynomial : 0);
    all[0][byte] = remainder;
  }
  for (size_t n = 1; n < wordBytes; ++n) {
    for (size_t byte = 0; byte < all[n].size(); ++byte) {
      const uint32_t before = all[n - 1][byte];
      all[n][byte] = (before >> 8) ^ all[0][before & 0xff];
    }
  }
  return all;
}();

/// Kounavis, Berry: Novel Table Lookup-Based Algorithms for High-Performance CRC Generation (IEEE TC 2008), slicing
/// by 8.
uint32_t updateByTables(uint32_t remainder, std::span<const uint8_t> bytes) {
  for (; bytes.size() >= wordBytes; bytes = bytes.subspan(wordBytes)) {
    const uint64_t word = littleEndian<uint64_t>(bytes, 0) ^ remainder;
    remainder = 0;
    for (size_t i = 0; i < wordBytes; ++i) remainder ^= tables[wordBytes - 1 - i][word >> (8 * i) & 0xff];
  }
  for (const uint8_t byte : bytes) remainder = (remainder >> 8) ^ tables[0][(remainder ^ byte) & 0xff];
  return remainder;
}

}  // namespace

uint32_t crc32cOf(std::span<const uint8_t> bytes) {
  static const Crc32cUpdate instruction = crc32cInstruction();
  return ~(instruction != nullptr ? instruction : updateByTables)(~uint32_t{0}, bytes);
}

uint32_t crc32cOf(std::string_view bytes) { return crc32cOf(asBytes(bytes)); }
uint32_t crc32cByTables(std::span<const uint8_t> bytes) { return ~updateByTables(~uint32_t{0}, bytes); }

std::string sha256Of(std::span<const uint8_t> bytes) {
  Sha256 sum;
  sum.add(bytes);
  return sum.text();
}

struct Sha256::State {
  const std::unique_ptr<EVP_MD_CTX, void (*)(EVP_MD_CTX*)> context{EVP_MD_CTX_new(), EVP_MD_CTX_free};
};

Sha256::Sha256() : state_(std::make_unique<State>()) {
  check(EVP_DigestInit_ex(state_->context.get(), EVP_sha256(), nullptr) == 1, "SHA-256 starts");
}

Sha256::~Sha256() = default;

void Sha256::add(std::span<const uint8_t> bytes) {
  check(EVP_DigestUpdate(state_->context.get(), bytes.data(), bytes.size()) == 1, "SHA-256 takes bytes");
}

std::string Sha256::text() {
  constexpr std::string_view digits = "0123456789abcdef";
  std::array<uint8_t, SHA256_DIGEST_LENGTH> digest{};
  check(EVP_DigestFinal_ex(state_->context.get(), digest.data(), nullptr) == 1, "SHA-256 ends");
  std::string text;
  for (const uint8_t byte : digest) {
    text += digits[byte >> 4];
    text += digits[byte & 15];
  }
  return text;
}

}  // namespace tandem
