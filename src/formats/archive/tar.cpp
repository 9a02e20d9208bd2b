#include "formats/archive/tar.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <numeric>
#include <optional>
#include <string_view>

#include "base/error.h"
#include "base/utf8.h"

namespace tandem {
namespace {

constexpr uint64_t blockBytes = 512;
using Block = std::array<uint8_t, blockBytes>;

/// A field of a header: where it begins, and its bytes.
struct Field {
  size_t at, bytes;
};
constexpr Field nameField{0, 100}, modeField{100, 8}, ownerField{108, 8}, groupField{116, 8}, sizeField{124, 12},
    timeField{136, 12}, sumField{148, 8}, magicField{257, 5}, prefixField{345, 155};
constexpr size_t typeAt = 156;

std::span<const uint8_t> bytesOf(std::span<const uint8_t> block, Field field) {
  return block.subspan(field.at, field.bytes);
}

/// Up to the first zero byte.
std::string textOf(std::span<const uint8_t> block, Field field) {
  const auto bytes = bytesOf(block, field);
  return {bytes.begin(), std::ranges::find(bytes, uint8_t{0})};
}

/// Octal digits between spaces and zero bytes, or GNU's binary number, whose first bit is set.
std::optional<uint64_t> numberOf(std::span<const uint8_t> block, Field field) {
  const auto bytes = bytesOf(block, field);
  uint64_t value = 0;
  if ((bytes.front() & 0x80) != 0) {
    for (size_t i = 0; i < bytes.size(); ++i) {
      const uint8_t byte = i == 0 ? bytes[i] & 0x7F : bytes[i];
      if (value >> 55 != 0) return std::nullopt;
      value = value << 8 | byte;
    }
    return value;
  }
  const std::string text = textOf(block, field);
  const size_t first = text.find_first_not_of(' '), last = text.find_last_not_of(' ');
  if (first == std::string::npos) return std::nullopt;
  const auto [end, error] = std::from_chars(text.data() + first, text.data() + last + 1, value, 8);
  return error == std::errc() && end == text.data() + last + 1 ? std::optional(value) : std::nullopt;
}

/// The sum of a header's bytes, those of the sum itself taken as spaces.
uint64_t sumOf(std::span<const uint8_t> block) {
  const auto own = bytesOf(block, sumField);
  const uint64_t all = std::accumulate(block.begin(), block.end(), uint64_t{0});
  return all - std::accumulate(own.begin(), own.end(), uint64_t{0}) + sumField.bytes * ' ';
}

void put(std::string_view text, Field field, std::span<uint8_t> block) {
  check(text.size() <= field.bytes, "a field of a tar header holds its text");
  std::ranges::copy(text, block.begin() + static_cast<std::ptrdiff_t>(field.at));
}

/// Octal digits that leave the last byte of the field 0.
void putNumber(uint64_t value, Field field, std::span<uint8_t> block) {
  std::string digits(field.bytes - 1, '0');
  for (auto digit = digits.rbegin(); digit != digits.rend(); ++digit, value /= 8) {
    *digit = static_cast<char>('0' + value % 8);
  }
  check(value == 0, "a field of a tar header holds its number");
  put(digits, field, block);
}

bool isZero(std::span<const uint8_t> block) {
  return std::ranges::all_of(block, [](uint8_t byte) { return byte == 0; });
}

/// What extension headers say of the file behind them.
struct Extended {
  std::string name = {};
  std::optional<uint64_t> size = {};
};

class Index {
 public:
  Index(uint64_t size, const ReadAt& read, const TarLimits& limits) : size_(size), read_(read), limits_(limits) {}

  Result<std::vector<TarEntry>> entries() {
    while (at_ < size_) {
      if (size_ - at_ < blockBytes) return parseError(at_, "the archive ends within a header; fetch it again");
      read_(at_, block_);
      if (isZero(block_)) return std::move(entries_);  // two such blocks end it; the second may be missing
      if (const auto fault = takeHeader()) return *fault;
    }
    return std::move(entries_);
  }

 private:
  std::optional<ParseError> takeHeader() {
    if (numberOf(block_, sumField) != sumOf(block_)) {
      return parseError(at_, "the checksum of a tar header differs; damaged, or no tar archive");
    }
    const char type = static_cast<char>(block_[typeAt]);
    const std::optional<uint64_t> stated = numberOf(block_, sizeField);
    const bool hasData = std::string_view("123456").find(type) == std::string_view::npos;
    const bool isExtension = type == 'x' || type == 'g' || type == 'L' || type == 'K';
    const uint64_t bytes = !hasData ? 0 : !isExtension && next_.size ? *next_.size : stated.value_or(size_);
    const uint64_t data = at_ + blockBytes, room = size_ - data;
    if (bytes > room) {
      return parseError(at_, "a file of ", bytes, " bytes reaches behind the archive's end at ", size_,
                        "; truncated, fetch it again");
    }
    if (type == 'S') return parseError(at_, "a sparse file, which is not read; make the archive without --sparse");
    const auto fault = isExtension ? takeExtension(type, data, bytes) : takeFile(type, data, bytes);
    at_ = data + std::min(room, (bytes + blockBytes - 1) / blockBytes * blockBytes);
    return fault;
  }

  std::optional<ParseError> takeExtension(char type, uint64_t data, uint64_t bytes) {
    if (type == 'g' || type == 'K') return std::nullopt;
    const uint64_t most = limits_.nameBytes + (type == 'x' ? 64 * blockBytes : 1);
    if (bytes > most) return parseError(at_, "a name or header of ", bytes, " bytes; the limit is ", most);
    std::string text(bytes, '\0');
    read_(data, {reinterpret_cast<uint8_t*>(text.data()), text.size()});
    if (type == 'x') return takePax(text);
    next_.name = text.substr(0, text.find('\0'));
    return std::nullopt;
  }

  /// Records "LENGTH KEY=VALUE\n", where LENGTH is that of the whole record.
  std::optional<ParseError> takePax(std::string_view text) {
    while (!text.empty()) {
      size_t length = 0;
      const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), length);
      const auto digits = static_cast<size_t>(end - text.data());
      const bool fits = error == std::errc() && length > digits + 1 && length <= text.size();
      if (!fits || text[digits] != ' ' || text[length - 1] != '\n') {
        return parseError(at_, "a pax header is damaged: a record has no length that fits");
      }
      const std::string_view record = text.substr(digits + 1, length - digits - 2);
      const size_t equals = record.find('=');
      if (equals == std::string_view::npos) return parseError(at_, "a pax header is damaged: a record has no '='");
      const std::string_view key = record.substr(0, equals), value = record.substr(equals + 1);
      if (key.starts_with("GNU.sparse")) {
        return parseError(at_, "a sparse file, which is not read; make the archive without --sparse");
      }
      if (key == "path") next_.name = std::string(value);
      if (key == "size") {
        uint64_t bytes = 0;
        const auto [last, wrong] = std::from_chars(value.data(), value.data() + value.size(), bytes);
        if (wrong != std::errc() || last != value.data() + value.size()) {
          return parseError(at_, "a pax header's size '", escaped(value.substr(0, 32)), "' is no number");
        }
        next_.size = bytes;
      }
      text.remove_prefix(length);
    }
    return std::nullopt;
  }

  std::optional<ParseError> takeFile(char type, uint64_t data, uint64_t bytes) {
    Extended extended = std::exchange(next_, {});
    if (type != '0' && type != '\0' && type != '7') return std::nullopt;
    std::string name = extended.name.empty() ? headerName() : std::move(extended.name);
    if (name.size() > limits_.nameBytes) {
      return parseError(at_, "a name of ", name.size(), " bytes; the limit is ", limits_.nameBytes);
    }
    if (entries_.size() == limits_.entries) return parseError(at_, "more than ", limits_.entries, " files");
    if (!name.ends_with('/')) entries_.push_back({std::move(name), data, bytes});  // else a folder of old archives
    return std::nullopt;
  }

  /// ustar puts the front of a long name into another field; GNU has times there.
  std::string headerName() const {
    const std::string name = textOf(block_, nameField), prefix = textOf(block_, prefixField);
    const bool isUstar = textOf(block_, magicField) == "ustar" && block_[magicField.at + magicField.bytes] == 0;
    return isUstar && !prefix.empty() ? concat(prefix, '/', name) : name;
  }

  uint64_t size_;
  const ReadAt& read_;
  const TarLimits& limits_;
  uint64_t at_ = 0;  // of the header
  Block block_{};
  Extended next_;
  std::vector<TarEntry> entries_;
};

}  // namespace

Result<std::vector<TarEntry>> indexTar(uint64_t size, const ReadAt& read, const TarLimits& limits) {
  return Index(size, read, limits).entries();
}

std::vector<uint8_t> tarHeader(std::string_view name, uint64_t bytes) {
  constexpr uint64_t readableByAll = 0644;
  constexpr std::string_view ustar(
      "ustar\0"
      "00",
      8);
  std::vector<uint8_t> block(blockBytes);
  put(name, nameField, block);
  putNumber(readableByAll, modeField, block);
  for (const Field field : {ownerField, groupField, timeField}) putNumber(0, field, block);
  putNumber(bytes, sizeField, block);
  block[typeAt] = '0';
  put(ustar, {magicField.at, ustar.size()}, block);
  putNumber(sumOf(block), {sumField.at, sumField.bytes - 1}, block);
  block[sumField.at + sumField.bytes - 1] = ' ';
  return block;
}

std::vector<uint8_t> tarPadding(uint64_t bytes) {
  return std::vector<uint8_t>((blockBytes - bytes % blockBytes) % blockBytes);
}

std::vector<uint8_t> tarEnd() { return std::vector<uint8_t>(2 * blockBytes); }

}  // namespace tandem
