#include "formats/dataset/array_message.h"

#include <algorithm>
#include <cstring>
#include <optional>

#include "formats/io/little_endian.h"

namespace tandem {
namespace {

constexpr ArrayType table[] = {{1, "float32", 4}, {2, "float64", 8},  {3, "int32", 4},   {4, "uint8", 1},
                               {5, "int16", 2},   {6, "int8", 1},     {9, "int64", 8},   {10, "bool", 1},
                               {17, "uint16", 2}, {19, "float16", 2}, {22, "uint32", 4}, {23, "uint64", 8}};

/// Takes numbers off the front of a message.
class Reader {
 public:
  explicit Reader(std::span<const uint8_t> bytes) : bytes_(bytes) {}

  template <class Word>
  std::optional<Word> number() {
    if (left() < sizeof(Word)) return std::nullopt;
    const auto word = littleEndian<Word>(bytes_, at_);
    at_ += sizeof(Word);
    return word;
  }
  /// REQUIRES: count <= left().
  std::span<const uint8_t> take(size_t count) {
    at_ += count;
    return bytes_.subspan(at_ - count, count);
  }
  size_t at() const { return at_; }
  size_t left() const { return bytes_.size() - at_; }

 private:
  std::span<const uint8_t> bytes_;
  size_t at_ = 0;
};

ParseError endsInside(const Reader& reader, std::string_view what) {
  return parseError(reader.at(), "the message ends inside ", what);
}

Result<MessageArray> parseArray(Reader& reader) {
  MessageArray array;
  const size_t begin = reader.at();
  const auto number = reader.number<int32_t>(), dimensions = reader.number<int32_t>();
  if (!number || !dimensions) return endsInside(reader, "the type of an array");
  const auto type = std::ranges::find(table, *number, &ArrayType::number);
  if (type == std::end(table)) return parseError(begin, "an array has type ", *number, ", which is no type of numbers");
  if (*dimensions < 0 || *dimensions > mostDimensions) {
    return parseError(begin + 4, "an array has ", *dimensions, " dimensions; 0 to ", mostDimensions, " are read");
  }
  array.type = type;
  int64_t expected = type->bytes;
  for (int32_t i = 0; i < *dimensions; ++i) {
    const auto side = reader.number<int32_t>();
    if (!side) return endsInside(reader, "the shape of an array");
    if (*side <= 0) return parseError(reader.at() - 4, "an array has a dimension of ", *side, "; 1 is the least");
    if (__builtin_mul_overflow(expected, int64_t{*side}, &expected)) {
      return parseError(reader.at() - 4, "an array has more bytes than 64 bits can count");
    }
    array.shape.push_back(*side);
  }
  const auto bytes = reader.number<int64_t>();
  if (!bytes) return endsInside(reader, "the size of an array");
  if (*bytes != expected) {
    return parseError(reader.at() - 8, "an array is said to have ", *bytes, " bytes; its type and shape need ",
                      expected);
  }
  if (static_cast<uint64_t>(expected) > reader.left()) return endsInside(reader, "the values of an array");
  array.bytes = reader.take(static_cast<size_t>(expected));
  return array;
}

/// Writes one after the other into memory that is large enough.
class Writer {
 public:
  explicit Writer(uint8_t* at) : at_(at) {}

  template <class Word>
  void number(int64_t value) {
    const auto word = static_cast<Word>(value);
    std::memcpy(at_, &word, sizeof word);
    at_ += sizeof word;
  }
  void bytes(std::span<const uint8_t> bytes) { at_ = std::copy(bytes.begin(), bytes.end(), at_); }

 private:
  uint8_t* at_;
};

}  // namespace

std::span<const ArrayType> arrayTypes() { return table; }

Result<std::vector<MessageArray>> parseArrayMessage(std::span<const uint8_t> bytes) {
  Reader reader(bytes);
  const auto count = reader.number<int32_t>();
  if (!count) return endsInside(reader, "the number of its arrays");
  if (*count < 1 || *count > mostArrays) {
    return parseError(0, "the message has ", *count, " arrays; 1 to ", mostArrays, " are read");
  }
  std::vector<MessageArray> arrays;
  for (int32_t i = 0; i < *count; ++i) {
    auto array = parseArray(reader);
    if (!array) return array.error();
    arrays.push_back(std::move(array.value()));
  }
  if (reader.left() > 0) return parseError(reader.at(), reader.left(), " bytes stand behind the last array");
  return arrays;
}

std::vector<uint8_t> arrayMessage(std::span<const MessageArray> arrays) {
  size_t bytes = sizeof(int32_t);
  for (const MessageArray& array : arrays) {
    bytes += (2 + array.shape.size()) * sizeof(int32_t) + sizeof(int64_t) + array.bytes.size();
  }
  std::vector<uint8_t> out(bytes);
  Writer writer(out.data());
  writer.number<int32_t>(std::ssize(arrays));
  for (const MessageArray& array : arrays) {
    writer.number<int32_t>(array.type->number);
    writer.number<int32_t>(std::ssize(array.shape));
    for (const int64_t side : array.shape) writer.number<int32_t>(side);
    writer.number<int64_t>(std::ssize(array.bytes));
    writer.bytes(array.bytes);
  }
  return out;
}

}  // namespace tandem
