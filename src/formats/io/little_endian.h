#pragma once

#include <bit>
#include <cstdint>
#include <cstring>
#include <span>

namespace tandem {

/// The little-endian number at `at`. REQUIRES: at + sizeof(Word) <= bytes.size().
template <class Word>
Word littleEndian(std::span<const uint8_t> bytes, size_t at) {
  static_assert(std::endian::native == std::endian::little);
  Word word;
  std::memcpy(&word, bytes.data() + at, sizeof word);
  return word;
}

}  // namespace tandem
