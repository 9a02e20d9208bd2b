#include "formats/weights/element_type.h"

#include <algorithm>

#include "formats/io/little_endian.h"

namespace tandem {
namespace {

constexpr ElementType table[] = {
    {"BOOL", "BoolStorage", 1, 0},
    {"U8", "ByteStorage", 1, 0},
    {"I8", "CharStorage", 1, 0},
    {"F8_E4M3", "", 1, 0x7F},
    {"F8_E5M2", "", 1, 0x7C},
    {"U16", "", 2, 0},
    {"I16", "ShortStorage", 2, 0},
    {"F16", "HalfStorage", 2, 0x7C00},
    {"BF16", "BFloat16Storage", 2, 0x7F80},
    {"U32", "", 4, 0},
    {"I32", "IntStorage", 4, 0},
    {"F32", "FloatStorage", 4, 0x7F80'0000},
    {"U64", "", 8, 0},
    {"I64", "LongStorage", 8, 0},
    {"F64", "DoubleStorage", 8, 0x7FF0'0000'0000'0000},
};

const ElementType* rowWhere(std::string_view ElementType::*field, std::string_view value) {
  const auto row = value.empty() ? std::end(table) : std::ranges::find(table, value, field);
  return row == std::end(table) ? nullptr : row;
}

template <class Word>
uint64_t countWords(std::span<const uint8_t> bytes, Word mask) {
  uint64_t count = 0;
  for (size_t at = 0; at < bytes.size(); at += sizeof(Word)) {
    count += (littleEndian<Word>(bytes, at) & mask) == mask ? 1 : 0;
  }
  return count;
}

}  // namespace

std::span<const ElementType> elementTypes() { return table; }

const ElementType* elementTypeNamed(std::string_view name) { return rowWhere(&ElementType::name, name); }

const ElementType* elementTypeOfStorage(std::string_view storageClass) {
  return rowWhere(&ElementType::storage, storageClass);
}

uint64_t countNonFinite(const ElementType& type, std::span<const uint8_t> bytes) {
  if (!type.floating()) return 0;
  switch (type.bytes) {
    case 1:
      return countWords<uint8_t>(bytes, static_cast<uint8_t>(type.nonFinite));
    case 2:
      return countWords<uint16_t>(bytes, static_cast<uint16_t>(type.nonFinite));
    case 4:
      return countWords<uint32_t>(bytes, static_cast<uint32_t>(type.nonFinite));
    default:
      return countWords<uint64_t>(bytes, type.nonFinite);
  }
}

}  // namespace tandem
