#include "formats/dataset/idx.h"

#include <algorithm>
#include <optional>

namespace tandem {
namespace {

constexpr size_t prefixBytes = 4;
constexpr uint8_t unsignedByte = 0x08;

const char* typeName(uint8_t code) {
  switch (code) {
    case 0x08:
      return "unsigned byte";
    case 0x09:
      return "signed byte";
    case 0x0B:
      return "short";
    case 0x0C:
      return "int";
    case 0x0D:
      return "float";
    case 0x0E:
      return "double";
    default:
      return nullptr;
  }
}

int64_t bigEndian(std::span<const uint8_t> bytes) {
  int64_t value = 0;
  for (const uint8_t byte : bytes) value = value << 8 | byte;
  return value;
}

std::optional<ParseError> refusePrefix(std::span<const uint8_t> bytes) {
  if (bytes.size() < prefixBytes) {
    return parseError(bytes.size(), "the file ends after ", bytes.size(),
                      " bytes, inside the IDX header; fetch it again");
  }
  if (bytes[0] != 0 || bytes[1] != 0) return parseError(0, "not an IDX file: it must start with two zero bytes");
  const char* type = typeName(bytes[2]);
  if (type == nullptr) return parseError(2, "not an IDX file: type code ", int{bytes[2]}, " does not exist");
  if (bytes[2] != unsignedByte) return parseError(2, "IDX values are of type ", type, "; only unsigned byte is read");
  if (bytes[3] != 1 && bytes[3] != 3) {
    return parseError(3, "IDX array has ", int{bytes[3]}, " dimensions; labels have 1 and grey images 3");
  }
  return std::nullopt;
}

std::optional<ParseError> refuseSizes(const Idx& idx, const IdxLimits& limits) {
  for (int d = 0; d < idx.dimensions; ++d) {
    const uint64_t offset = prefixBytes + 4 * static_cast<uint64_t>(d);
    const int64_t limit = d == 0 ? limits.count : limits.edge;
    const char* what = d == 0 ? (idx.dimensions == 1 ? "number of labels" : "number of images") : "edge of an image";
    if (idx.sizes[d] < 1) return parseError(offset, what, " is 0; at least 1 is needed");
    if (idx.sizes[d] > limit) return parseError(offset, what, " is ", idx.sizes[d], "; the limit is ", limit);
  }
  return std::nullopt;
}

}  // namespace

int idxDimensions(std::span<const uint8_t> head) {
  const bool idx = head.size() >= prefixBytes && head[0] == 0 && head[1] == 0 && typeName(head[2]) != nullptr;
  return idx ? head[3] : 0;
}

Result<Idx> parseIdx(std::span<const uint8_t> bytes, const IdxLimits& limits) {
  if (auto error = refusePrefix(bytes)) return *error;
  Idx idx;
  idx.dimensions = bytes[3];
  const size_t header = prefixBytes + 4 * static_cast<size_t>(idx.dimensions);
  if (bytes.size() < header) {
    return parseError(bytes.size(), "the file ends after ", bytes.size(), " bytes, inside the IDX header of ", header,
                      " bytes; fetch it again");
  }
  for (int d = 0; d < idx.dimensions; ++d) idx.sizes[d] = bigEndian(bytes.subspan(prefixBytes + 4 * d, 4));
  if (auto error = refuseSizes(idx, limits)) return *error;

  uint64_t expected = header;
  uint64_t values = 1;
  for (int d = 0; d < idx.dimensions; ++d) {
    if (__builtin_mul_overflow(values, static_cast<uint64_t>(idx.sizes[d]), &values)) {
      return parseError(prefixBytes, "the sizes of the IDX header multiply to more than 64 bits");
    }
  }
  if (__builtin_add_overflow(expected, values, &expected) || expected != bytes.size()) {
    return parseError(std::min<uint64_t>(bytes.size(), expected), "the IDX header describes ", expected,
                      " bytes but there are ", bytes.size(), bytes.size() < expected ? "; truncated" : "; too long",
                      ", fetch the file again");
  }
  idx.values = bytes.subspan(header);
  return idx;
}

}  // namespace tandem
