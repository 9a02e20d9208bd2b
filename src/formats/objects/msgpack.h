#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "formats/io/result.h"

namespace tandem {

/// A value of MessagePack (https://github.com/msgpack/msgpack/blob/master/spec.md). What an array or a map holds
/// follows it.
struct MsgpackValue {
  enum class Kind : uint8_t { none, boolean, integer, real, text, bytes, array, map, extension };

  Kind kind = Kind::none;
  uint64_t offset = 0;             ///< of its first byte
  int64_t integer = 0;             ///< value of a boolean or an integer
  std::span<const uint8_t> bytes;  ///< of a text, of bytes and of an extension; they lie in the parsed bytes
  uint64_t items = 0;              ///< values that follow, of which a map has two for an entry

  bool isString() const { return kind == Kind::text || kind == Kind::bytes; }
  std::string_view text() const { return {reinterpret_cast<const char*>(bytes.data()), bytes.size()}; }
};

/// "a map", "an integer"; for messages.
const char* nameOf(MsgpackValue::Kind kind);

/// Reads values one after the other, and allocates nothing. The bytes must outlive it.
class MsgpackReader {
 public:
  explicit MsgpackReader(std::span<const uint8_t> bytes) : bytes_(bytes) {}

  /// Refuses what ends too early, more items than bytes are left, and whole numbers beyond 63 bits.
  Result<MsgpackValue> next();
  /// Passes over the next value with all that it holds.
  std::optional<ParseError> skip();
  uint64_t at() const { return at_; }

 private:
  struct Form;
  static const Form forms[];

  uint64_t left() const { return bytes_.size() - at_; }
  std::optional<ParseError> fill(MsgpackValue& value, const Form& form, uint64_t number);

  std::span<const uint8_t> bytes_;
  uint64_t at_ = 0;
};

}  // namespace tandem
