#pragma once

#include <bit>
#include <cstdint>
#include <cstring>
#include <span>
#include <vector>

namespace tandem {

/// The little-endian number at `at`. REQUIRES: at + sizeof(Word) <= bytes.size().
template <class Word>
Word littleEndian(std::span<const uint8_t> bytes, size_t at) {
  static_assert(std::endian::native == std::endian::little);
  Word word;
  std::memcpy(&word, bytes.data() + at, sizeof word);
  return word;
}

/// Appends the bytes of a number, or of another plain value, in little-endian order.
template <class Word>
void appendLittleEndian(std::vector<uint8_t>& out, const Word& word) {
  static_assert(std::endian::native == std::endian::little);
  const auto* const bytes = reinterpret_cast<const uint8_t*>(&word);
  out.insert(out.end(), bytes, bytes + sizeof word);
}

}  // namespace tandem
