#include "report/page/escaping.h"

#include <algorithm>
#include <cstdint>

#include "base/text.h"
#include "base/utf8.h"
#include "formats/io/checksum.h"

namespace tandem {
namespace {

constexpr size_t longest = 1000;
constexpr std::string_view replacement = "\xef\xbf\xbd";
constexpr std::string_view hexDigits = "0123456789ABCDEF";

std::string codeText(uint32_t code) {
  std::string digits;
  for (; code > 0 || digits.size() < 4; code >>= 4) digits.insert(digits.begin(), hexDigits[code & 0xF]);
  return concat("[U+", digits, "]");
}

std::string_view entityOf(char c) {
  switch (c) {
    case '&':
      return "&amp;";
    case '<':
      return "&lt;";
    case '>':
      return "&gt;";
    case '"':
      return "&quot;";
    case '\'':
      return "&#39;";
    default:
      return {};
  }
}

uint8_t nibble(char digit) { return static_cast<uint8_t>(digit <= '9' ? digit - '0' : digit - 'a' + 10); }

/// The bytes of which these are the hexadecimal digits.
std::vector<uint8_t> bytesOf(std::string_view hex) {
  std::vector<uint8_t> bytes;
  for (size_t i = 0; i + 1 < hex.size(); i += 2) {
    bytes.push_back(static_cast<uint8_t>(nibble(hex[i]) << 4 | nibble(hex[i + 1])));
  }
  return bytes;
}

}  // namespace

std::string visibleText(std::string_view text) {
  std::string out;
  size_t characters = 0;
  for (std::string_view rest = text; !rest.empty(); ++characters) {
    if (characters == longest) return concat(out, "... (cut: ", text.size(), " bytes in all)");
    const size_t length = sequenceLength(rest);
    if (length == 0) {
      out += replacement;
      rest.remove_prefix(1);
      continue;
    }
    const std::string_view character = rest.substr(0, length);
    const uint32_t code = codeOf(character);
    if (isHidden(code)) {
      out += codeText(code);
    } else {
      out += character;
    }
    rest.remove_prefix(length);
  }
  return out;
}

std::string htmlText(std::string_view text) {
  std::string out;
  for (const char c : visibleText(text)) {
    const std::string_view entity = entityOf(c);
    if (entity.empty()) {
      out += c;
    } else {
      out += entity;
    }
  }
  return out;
}

std::string scriptJson(std::string_view json) {
  std::string out;
  for (const char c : json) {
    if (c == '<' || c == '>' || c == '&') {
      out += concat("\\u00", hexDigits[static_cast<uint8_t>(c) >> 4], hexDigits[c & 0xF]);
    } else {
      out += c;
    }
  }
  return out;
}

std::string base64(std::span<const uint8_t> bytes) {
  constexpr std::string_view alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  constexpr size_t group = 3;
  std::string text;
  text.reserve((bytes.size() + group - 1) / group * 4);
  for (size_t i = 0; i < bytes.size(); i += group) {
    const size_t there = std::min(group, bytes.size() - i);
    uint32_t bits = 0;
    for (size_t k = 0; k < group; ++k) bits = bits << 8 | (k < there ? bytes[i + k] : 0u);
    for (size_t c = 0; c < 4; ++c) text += c <= there ? alphabet[bits >> (18 - 6 * c) & 63] : '=';
  }
  return text;
}

std::string integrityOf(std::string_view text) { return "sha256-" + base64(bytesOf(sha256Of(asBytes(text)))); }

}  // namespace tandem
