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

size_t headerBytes(int dimensions) { return prefixBytes + 4 * static_cast<size_t>(dimensions); }

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

uint64_t Idx::fileBytes() const {
  uint64_t values = 1;
  for (int d = 0; d < dimensions; ++d) values *= static_cast<uint64_t>(sizes[d]);  // 56 bits within the limits
  return headerBytes(dimensions) + values;
}

Result<Idx> parseIdxHeader(std::span<const uint8_t> head, const IdxLimits& limits) {
  if (auto error = refusePrefix(head)) return *error;
  Idx idx;
  idx.dimensions = head[3];
  const size_t header = headerBytes(idx.dimensions);
  if (head.size() < header) {
    return parseError(head.size(), "the file ends after ", head.size(), " bytes, inside the IDX header of ", header,
                      " bytes; fetch it again");
  }
  for (int d = 0; d < idx.dimensions; ++d) idx.sizes[d] = bigEndian(head.subspan(prefixBytes + 4 * d, 4));
  if (auto error = refuseSizes(idx, limits)) return *error;
  return idx;
}

std::vector<uint8_t> idxHeader(const Idx& idx) {
  std::vector<uint8_t> header{0, 0, unsignedByte, static_cast<uint8_t>(idx.dimensions)};
  for (int d = 0; d < idx.dimensions; ++d) {
    for (int shift = 24; shift >= 0; shift -= 8) header.push_back(static_cast<uint8_t>(idx.sizes[d] >> shift));
  }
  return header;
}

Result<Idx> parseIdx(std::span<const uint8_t> bytes, const IdxLimits& limits) {
  Result<Idx> parsed = parseIdxHeader(bytes, limits);
  if (!parsed.ok()) return parsed;
  Idx& idx = parsed.value();
  const uint64_t expected = idx.fileBytes();
  if (expected != bytes.size()) {
    return parseError(std::min<uint64_t>(bytes.size(), expected), "the IDX header describes ", expected,
                      " bytes but there are ", bytes.size(), bytes.size() < expected ? "; truncated" : "; too long",
                      ", fetch the file again");
  }
  idx.values = bytes.subspan(headerBytes(idx.dimensions));
  return parsed;
}

}  // namespace tandem
