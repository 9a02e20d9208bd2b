#include "base/utf8.h"

#include <algorithm>

namespace tandem {
namespace {

constexpr std::string_view hexDigits = "0123456789abcdef";

/// The last `digits` hexadecimal digits of a number.
std::string hex(uint32_t number, int digits) {
  std::string text;
  for (int i = digits - 1; i >= 0; --i) text += hexDigits[number >> 4 * i & 0xF];
  return text;
}

std::string byteText(char byte) { return "\\x" + hex(static_cast<uint8_t>(byte), 2); }

std::string hiddenText(uint32_t code) {
  if (code < 0x80) return "\\x" + hex(code, 2);
  return code <= 0xFFFF ? "\\u" + hex(code, 4) : "\\U" + hex(code, 8);
}

/// `text` with each byte that belongs to no character as \xNN, and each character as `shown` gives it.
template <class Shown>
std::string rewritten(std::string_view text, const Shown& shown) {
  std::string out;
  while (!text.empty()) {
    const size_t length = sequenceLength(text);
    out += length == 0 ? byteText(text.front()) : shown(text.substr(0, length));
    text.remove_prefix(std::max<size_t>(length, 1));
  }
  return out;
}

}  // namespace

size_t sequenceLength(std::string_view text) {
  const auto byte = [&](size_t i) { return static_cast<uint8_t>(text[i]); };
  const uint8_t first = byte(0);
  if (first < 0x80) return 1;
  const size_t length = first >= 0xF0 ? 4 : first >= 0xE0 ? 3 : 2;
  if (first < 0xC2 || first > 0xF4 || text.size() < length) return 0;
  for (size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xC0) != 0x80) return 0;
  }
  const uint8_t second = byte(1);
  const bool overlong = (first == 0xE0 && second < 0xA0) || (first == 0xF0 && second < 0x90);
  const bool surrogate = first == 0xED && second > 0x9F;
  const bool tooLarge = first == 0xF4 && second > 0x8F;
  return overlong || surrogate || tooLarge ? 0 : length;
}

bool isUtf8(std::string_view text) {
  while (!text.empty()) {
    const size_t length = sequenceLength(text);
    if (length == 0) return false;
    text.remove_prefix(length);
  }
  return true;
}

uint32_t codeOf(std::string_view character) {
  const auto byte = [&](size_t i) { return static_cast<uint32_t>(static_cast<uint8_t>(character[i])); };
  if (character.size() == 1) return byte(0);
  uint32_t code = byte(0) & (0xFFu >> (character.size() + 1));
  for (size_t i = 1; i < character.size(); ++i) code = code << 6 | (byte(i) & 0x3F);
  return code;
}

bool isHidden(uint32_t code) {
  const bool control = code < 0x20 || (code >= 0x7F && code < 0xA0);
  const bool direction = code == 0x61C || code == 0x200E || code == 0x200F || (code >= 0x2028 && code <= 0x202E) ||
                         (code >= 0x2066 && code <= 0x2069);
  const bool none = (code >= 0xFDD0 && code <= 0xFDEF) || (code & 0xFFFE) == 0xFFFE;
  return control || direction || none;
}

std::string asUtf8(std::string_view text) {
  return rewritten(text, [](std::string_view character) { return std::string(character); });
}

std::string withoutControls(std::string_view text) {
  return rewritten(text, [](std::string_view character) {
    const uint32_t code = codeOf(character);
    return isHidden(code) ? hiddenText(code) : std::string(character);
  });
}

std::string escaped(std::string_view text) {
  constexpr size_t limit = 80;
  std::string out;
  for (const char c : text.substr(0, limit)) {
    const bool printable = c >= 0x20 && c < 0x7F;
    out += printable ? std::string(1, c) : byteText(c);
  }
  return text.size() > limit ? out + "..." : out;
}

}  // namespace tandem
