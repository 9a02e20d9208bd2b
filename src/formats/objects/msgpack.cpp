#include "formats/objects/msgpack.h"

#include <algorithm>
#include <bit>

namespace tandem {

using Kind = MsgpackValue::Kind;

const char* nameOf(Kind kind) {
  switch (kind) {
    case Kind::none:
      return "nil";
    case Kind::boolean:
      return "a boolean";
    case Kind::integer:
      return "an integer";
    case Kind::real:
      return "a float";
    case Kind::text:
      return "a text";
    case Kind::bytes:
      return "bytes";
    case Kind::array:
      return "an array";
    case Kind::map:
      return "a map";
    case Kind::extension:
      return "an extension";
  }
  return "a value";
}

/// First bytes from one to another, and what follows them: a number, and then as many bytes or values as it says. Where
/// no number follows, it is the difference to the first of these bytes, plus `base`.
struct MsgpackReader::Form {
  uint8_t first, last;
  Kind kind;
  uint8_t numberBytes = 0;
  bool isSigned = false;
  int64_t base = 0;
  uint8_t more = 0;  // bytes behind the number that it does not count
};

constexpr MsgpackReader::Form MsgpackReader::forms[] = {
    {0x00, 0x7F, Kind::integer},
    {0x80, 0x8F, Kind::map},
    {0x90, 0x9F, Kind::array},
    {0xA0, 0xBF, Kind::text},
    {0xC0, 0xC0, Kind::none},
    {0xC2, 0xC3, Kind::boolean},
    {0xC4, 0xC4, Kind::bytes, 1},
    {0xC5, 0xC5, Kind::bytes, 2},
    {0xC6, 0xC6, Kind::bytes, 4},
    {.first = 0xC7, .last = 0xC7, .kind = Kind::extension, .numberBytes = 1, .more = 1},
    {.first = 0xC8, .last = 0xC8, .kind = Kind::extension, .numberBytes = 2, .more = 1},
    {.first = 0xC9, .last = 0xC9, .kind = Kind::extension, .numberBytes = 4, .more = 1},
    {0xCA, 0xCA, Kind::real, 4},
    {0xCB, 0xCB, Kind::real, 8},
    {0xCC, 0xCC, Kind::integer, 1},
    {0xCD, 0xCD, Kind::integer, 2},
    {0xCE, 0xCE, Kind::integer, 4},
    {0xCF, 0xCF, Kind::integer, 8},
    {0xD0, 0xD0, Kind::integer, 1, true},
    {0xD1, 0xD1, Kind::integer, 2, true},
    {0xD2, 0xD2, Kind::integer, 4, true},
    {0xD3, 0xD3, Kind::integer, 8, true},
    {.first = 0xD4, .last = 0xD4, .kind = Kind::extension, .base = 1, .more = 1},
    {.first = 0xD5, .last = 0xD5, .kind = Kind::extension, .base = 2, .more = 1},
    {.first = 0xD6, .last = 0xD6, .kind = Kind::extension, .base = 4, .more = 1},
    {.first = 0xD7, .last = 0xD7, .kind = Kind::extension, .base = 8, .more = 1},
    {.first = 0xD8, .last = 0xD8, .kind = Kind::extension, .base = 16, .more = 1},
    {0xD9, 0xD9, Kind::text, 1},
    {0xDA, 0xDA, Kind::text, 2},
    {0xDB, 0xDB, Kind::text, 4},
    {0xDC, 0xDC, Kind::array, 2},
    {0xDD, 0xDD, Kind::array, 4},
    {0xDE, 0xDE, Kind::map, 2},
    {0xDF, 0xDF, Kind::map, 4},
    {.first = 0xE0, .last = 0xFF, .kind = Kind::integer, .base = -32},
};

Result<MsgpackValue> MsgpackReader::next() {
  MsgpackValue value;
  value.offset = at_;
  if (left() == 0) return parseError(at_, "MessagePack ends where a value is due; truncated");
  const uint8_t first = bytes_[at_++];
  const auto form =
      std::ranges::find_if(forms, [=](const Form& row) { return row.first <= first && first <= row.last; });
  if (form == std::end(forms)) return parseError(value.offset, "byte ", int{first}, " begins no value of MessagePack");
  value.kind = form->kind;
  if (form->numberBytes > left()) return parseError(value.offset, nameOf(value.kind), " is cut short; truncated");
  uint64_t number = form->numberBytes > 0 ? 0 : std::bit_cast<uint64_t>(first - form->first + form->base);
  for (int i = 0; i < form->numberBytes; ++i) number = number << 8 | bytes_[at_++];
  if (const auto fault = fill(value, *form, number)) return *fault;
  return value;
}

std::optional<ParseError> MsgpackReader::fill(MsgpackValue& value, const Form& form, uint64_t number) {
  switch (form.kind) {
    case Kind::none:
    case Kind::real:
      break;
    case Kind::boolean:
    case Kind::integer: {
      const int unused = form.isSigned ? 64 - 8 * form.numberBytes : 0;
      value.integer = std::bit_cast<int64_t>(number << unused) >> unused;  // extends the sign
      const bool isTooLarge = form.numberBytes == 8 && !form.isSigned && value.integer < 0;
      if (isTooLarge) return parseError(value.offset, "an integer beyond 63 bits");
      break;
    }
    case Kind::array:
    case Kind::map:
      value.items = form.kind == Kind::map ? 2 * number : number;
      if (value.items <= left()) break;
      return parseError(value.offset, nameOf(form.kind), " of ", value.items, " values in ", left(), " bytes");
    case Kind::text:
    case Kind::bytes:
    case Kind::extension:
      number += form.more;
      if (number > left()) {
        return parseError(value.offset, nameOf(form.kind), " of ", number, " bytes, ", left(), " are left; truncated");
      }
      value.bytes = bytes_.subspan(at_, number);
      at_ += number;
      break;
  }
  return std::nullopt;
}

std::optional<ParseError> MsgpackReader::skip() {
  for (uint64_t due = 1; due > 0; --due) {
    const auto value = next();
    if (!value) return value.error();
    due += value.value().items;
  }
  return std::nullopt;
}

}  // namespace tandem
