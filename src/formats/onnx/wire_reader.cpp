#include "formats/onnx/wire_reader.h"

#include "formats/io/little_endian.h"

namespace tandem {
namespace {

constexpr int mostVarintBytes = 10;
constexpr uint64_t largestFieldNumber = (uint64_t{1} << 29) - 1;

}  // namespace

uint64_t WireReader::varint(const char* what) {
  const uint64_t start = offset();
  uint64_t value = 0;
  for (int i = 0; i < mostVarintBytes; ++i) {
    if (at_ == message_.size()) refuseWire(start, what, " ends within a number; the file is truncated or damaged");
    const uint8_t byte = message_[at_++];
    const uint64_t bits = byte & 0x7F;
    if (i == mostVarintBytes - 1 && bits > 1) refuseWire(start, what, " is a number of more than 64 bits");
    value |= bits << (7 * i);
    if (byte < 0x80) return value;
  }
  refuseWire(start, what, " is a number of more than ", mostVarintBytes, " bytes");
}

std::span<const uint8_t> WireReader::take(uint64_t count, const char* what) {
  const uint64_t left = message_.size() - at_;
  if (count > left) {
    refuseWire(offset(), what, " has ", count, " bytes, ", left, " are left in its message; the file is truncated or ",
               "damaged");
  }
  const auto part = message_.subspan(at_, count);
  at_ += count;
  return part;
}

std::optional<WireField> WireReader::next() {
  if (at_ == message_.size()) return std::nullopt;
  WireField field;
  field.offset = offset();
  const uint64_t tag = varint("a field's tag");
  const uint64_t number = tag >> 3;
  if (number == 0 || number > largestFieldNumber) refuseWire(field.offset, "a field has the number ", number);
  field.number = static_cast<uint32_t>(number);
  field.type = static_cast<WireType>(tag & 7);
  switch (field.type) {
    case WireType::varint:
      field.value = varint("a field");
      break;
    case WireType::fixed64:
      field.value = littleEndian<uint64_t>(take(sizeof(uint64_t), "a field"), 0);
      break;
    case WireType::fixed32:
      field.value = littleEndian<uint32_t>(take(sizeof(uint32_t), "a field"), 0);
      break;
    case WireType::bytes: {
      const uint64_t length = varint("a field's length");
      field.contentOffset = offset();
      field.bytes = take(length, "a field");
      break;
    }
    default:
      refuseWire(field.offset, "field ", field.number, " has the wire type ", tag & 7,
                 "; there are 0 (varint), 1, 2 (bytes) and 5");
  }
  return field;
}

std::optional<uint64_t> WireReader::nextVarint() {
  if (at_ == message_.size()) return std::nullopt;
  return varint("an item of a packed list");
}

}  // namespace tandem
