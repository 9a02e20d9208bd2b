#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "base/utf8.h"
#include "formats/io/little_endian.h"
#include "formats/io/result.h"

namespace tandem {

/// The operands of opcodes. Each is checked against the bytes that are left before it is read; a breach keeps the first
/// error and returns false.
class PickleInput {
 public:
  explicit PickleInput(std::span<const uint8_t> bytes) : bytes_(bytes) {}

 protected:
  static constexpr size_t longestName = 256;

  template <class... Parts>
  bool refuse(const Parts&... parts) {
    error_ = parseError(start_, parts...);
    return false;
  }

  bool has(uint64_t count) {
    return count <= bytes_.size() - at_ || refuse(name_, " of the pickle reads beyond its end; truncated");
  }
  template <class Word>
  bool take(Word& word) {
    if (!has(sizeof(Word))) return false;
    word = littleEndian<Word>(bytes_, at_);
    at_ += sizeof(Word);
    return true;
  }
  bool takeBytes(uint64_t length, std::string_view& bytes) {
    if (!has(length)) return false;
    bytes = {reinterpret_cast<const char*>(bytes_.data()) + at_, length};
    at_ += length;
    return true;
  }
  bool takeLine(std::string_view& line) {
    const auto rest = bytes_.subspan(at_, std::min(bytes_.size() - at_, longestName));
    const auto end = std::ranges::find(rest, uint8_t{'\n'});
    if (end == rest.end()) return refuse(name_, ": no name of at most ", longestName, " bytes follows");
    line = {reinterpret_cast<const char*>(rest.data()), static_cast<size_t>(end - rest.begin())};
    at_ += line.size() + 1;
    return true;
  }

  std::span<const uint8_t> bytes_;
  uint64_t at_ = 0, start_ = 0;  // offset of the next byte; offset of the current opcode
  const char* name_ = "";        // of the current opcode
  std::optional<ParseError> error_;
};

}  // namespace tandem
