#include "formats/objects/numpy_value.h"

#include <algorithm>
#include <bit>
#include <string>

#include "base/utf8.h"

namespace tandem {
namespace {

std::string shapeText(const std::vector<int64_t>& shape) {
  std::vector<std::string> sides;
  for (const int64_t side : shape) sides.push_back(std::to_string(side));
  return concat('[', join(sides), ']');
}

}  // namespace

Result<ByteArray> byteArrayOf(const NumpyBytes& stored, std::vector<int64_t> shape) {
  if (stored.type != "|u1") {
    return parseError(stored.offset, "an array has type '", escaped(stored.type), "'; '|u1' (uint8) is read");
  }
  if (shape.size() > mostArraySides) {
    return parseError(stored.offset, "an array has ", shape.size(), " sides; the limit is ", mostArraySides);
  }
  int64_t values = 1;
  for (const int64_t side : shape) {
    if (side < 0 || __builtin_mul_overflow(values, side, &values)) values = -1;
    if (values < 0) break;
  }
  if (values < 0 || static_cast<uint64_t>(values) != stored.bytes.size()) {
    return parseError(stored.offset, "an array has the shape ", shapeText(shape), " and ", stored.bytes.size(),
                      " bytes, which do not agree; the file is damaged");
  }
  return ByteArray{std::move(shape), stored.bytes};
}

Result<int64_t> integerOf(const NumpyBytes& stored) {
  const std::string_view type = stored.type;
  const auto& bytes = stored.bytes;
  const bool isWhole = type.size() == 3 && (type[0] == '<' || type[0] == '|') && (type[1] == 'i' || type[1] == 'u') &&
                       (type[2] == '1' || type[2] == '2' || type[2] == '4' || type[2] == '8');
  if (!isWhole || bytes.size() != static_cast<size_t>(type[2] - '0')) {
    return parseError(stored.offset, "a number of type '", escaped(type), "' in ", bytes.size(),
                      " bytes; '|u1', '<i8' and the like are read");
  }
  uint64_t word = 0;
  for (size_t i = 0; i < bytes.size(); ++i) word |= uint64_t{bytes[i]} << (8 * i);
  const bool isNegative = (bytes.back() & 0x80) != 0;
  if (type[1] == 'i' && isNegative && bytes.size() < 8) word |= ~uint64_t{0} << (8 * bytes.size());
  const auto number = std::bit_cast<int64_t>(word);
  if (type[1] == 'u' && number < 0) return parseError(stored.offset, "a number beyond 63 bits");
  return number;
}

}  // namespace tandem
