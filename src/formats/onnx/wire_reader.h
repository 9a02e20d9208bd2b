#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "formats/io/result.h"

namespace tandem {

/// How protobuf stores a field ("Encoding", protobuf.dev).
enum class WireType { varint = 0, fixed64 = 1, bytes = 2, fixed32 = 5 };

/// A field of a message: a number in `value` (varint, fixed64, fixed32), or bytes of the file.
struct WireField {
  uint32_t number = 0;
  WireType type = WireType::varint;
  uint64_t value = 0;
  std::span<const uint8_t> bytes;
  uint64_t offset = 0;         ///< of its tag in the file
  uint64_t contentOffset = 0;  ///< of its bytes in the file
};

/// Why a message was refused. Thrown within the parser of a file alone.
struct WireRefusal {
  ParseError error;
};

/// Throws WireRefusal with the text of `parts`.
template <class... Parts>
[[noreturn]] void refuseWire(uint64_t offset, const Parts&... parts) {
  throw WireRefusal{parseError(offset, parts...)};
}

/// The fields of one protobuf message, one after the other. Allocates nothing. Not thread-safe.
class WireReader {
 public:
  /// `begin`: the offset of the message in its file, for errors.
  WireReader(std::span<const uint8_t> message, uint64_t begin) : message_(message), begin_(begin) {}
  explicit WireReader(const WireField& field) : WireReader(field.bytes, field.contentOffset) {}

  /// The next field; empty at the end. Throws WireRefusal where a tag, a number or a length reaches behind the end of
  /// the message, a number has more than 10 bytes, or a field is a group.
  std::optional<WireField> next();

  /// The next number of a packed list, whose bytes the reader was made of; empty at the end. Throws as next().
  std::optional<uint64_t> nextVarint();

 private:
  uint64_t offset() const { return begin_ + at_; }
  uint64_t varint(const char* what);
  std::span<const uint8_t> take(uint64_t count, const char* what);

  std::span<const uint8_t> message_;
  uint64_t begin_, at_ = 0;
};

}  // namespace tandem
