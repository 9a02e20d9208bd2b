#include "formats/objects/datapoint.h"

#include <algorithm>
#include <optional>

#include "formats/objects/msgpack.h"
#include "formats/objects/pickled_array.h"

namespace tandem {
namespace {

constexpr PickleLimits limits{.opcodes = 1 << 10, .values = 1 << 8};
constexpr std::string_view wanted = "an image and a label are read";

/// OpenCV gives an encoded image as an array with a second side of 1.
Result<std::span<const uint8_t>> fileOf(const Result<ByteArray>& array, uint64_t offset) {
  if (!array) return parseError(array.error().offset, "the image: ", array.error().text);
  const ByteArray& held = array.value();
  const bool isFile = std::ranges::find(held.shape, std::ssize(held.bytes)) != held.shape.end();
  if (isFile) return held.bytes;
  return parseError(offset, "the image is an array with ", held.shape.size(), " sides; that of an image file has one");
}

std::optional<ParseError> refuseLabel(const Result<int64_t>& label, uint64_t offset) {
  if (!label) return parseError(label.error().offset, "the label: ", label.error().text);
  if (label.value() >= 0) return std::nullopt;
  return parseError(offset, "the label is ", label.value(), "; it counts from 0");
}

Result<Datapoint> ofPickle(std::span<const uint8_t> bytes) {
  const auto parsed = parsePickle(bytes, arrayRules("a datapoint", wanted), limits);
  if (!parsed) return parsed.error();
  const Pickle& pickle = parsed.value();
  const PickleValue& root = pickle.values[pickle.root];
  using Kind = PickleValue::Kind;
  if ((root.kind != Kind::list && root.kind != Kind::tuple) || root.items.size() != 2) {
    return parseError(root.offset, "the datapoint is ", nameOf(root.kind), " of ", root.items.size(), " values; ",
                      wanted);
  }
  const PickleValue &image = pickle.item(root, 0), &label = pickle.item(root, 1);
  const auto file = image.kind == Kind::bytes ? asBytes(image.text) : fileOf(byteArrayOf(pickle, image), image.offset);
  if (!file) return file.error();
  const auto number = integerOf(pickle, label);
  if (const auto fault = refuseLabel(number, label.offset)) return *fault;
  return Datapoint{file.value(), number.value(), pickle.decoded};
}

/// A map of msgpack-numpy: an array with a shape, or a number.
struct NumpyMap {
  uint64_t offset = 0;  ///< of the map
  bool isArray = false;
  NumpyBytes stored;
  std::vector<int64_t> shape;
};

/// REQUIRES: the bytes begin an array of two.
class MsgpackDatapoint {
 public:
  explicit MsgpackDatapoint(std::span<const uint8_t> bytes) : bytes_(bytes), reader_(bytes) {}

  Result<Datapoint> read() {
    const auto root = reader_.next();
    if (!root) return root.error();
    const auto image = imageFile();
    if (!image) return image.error();
    const uint64_t labelAt = reader_.at();
    const auto label = number();
    if (const auto fault = refuseLabel(label, labelAt)) return *fault;
    if (reader_.at() < bytes_.size()) {
      return parseError(reader_.at(), bytes_.size() - reader_.at(), " bytes follow the end of the datapoint");
    }
    return Datapoint{image.value(), label.value(), nullptr};
  }

 private:
  using Kind = MsgpackValue::Kind;

  Result<std::span<const uint8_t>> imageFile() {
    const auto value = reader_.next();
    if (!value) return value.error();
    // Without use_bin_type bytes are written as a text.
    if (value.value().isString()) return value.value().bytes;
    auto map = numpyMap(value.value());
    if (!map) return map.error();
    auto& [offset, isArray, stored, shape] = map.value();
    if (!isArray) return parseError(offset, "the image is a number");
    return fileOf(byteArrayOf(stored, std::move(shape)), offset);
  }

  Result<int64_t> number() {
    const auto value = reader_.next();
    if (!value) return value.error();
    if (value.value().kind == Kind::integer) return value.value().integer;
    const auto map = numpyMap(value.value());
    if (!map) return map.error();
    if (map.value().isArray) return parseError(map.value().offset, "this is an array, not a whole number");
    return integerOf(map.value().stored);
  }

  /// What is in a map whose head was read. Keys are bytes, or texts without use_bin_type.
  Result<NumpyMap> numpyMap(const MsgpackValue& head) {
    NumpyMap map;
    map.offset = map.stored.offset = head.offset;
    if (head.kind != Kind::map) {
      return parseError(head.offset, "this is ", nameOf(head.kind), ", not what msgpack-numpy writes");
    }
    for (uint64_t i = 0; i < head.items; i += 2) {
      const auto key = reader_.next();
      if (!key) return key.error();
      if (const auto fault = takeEntry(key.value(), map)) return *fault;
    }
    return map;
  }

  std::optional<ParseError> takeEntry(const MsgpackValue& key, NumpyMap& map) {
    if (!key.isString()) return parseError(key.offset, "a key is ", nameOf(key.kind), "; it must be a text");
    constexpr std::string_view known[] = {"nd", "type", "data", "shape"};
    const std::string_view name = key.text();
    if (std::ranges::find(known, name) == std::end(known)) return reader_.skip();
    const auto value = reader_.next();
    if (!value) return value.error();
    const MsgpackValue& entry = value.value();
    if (name == "shape") return takeShape(entry, map.shape);
    if (entry.items > 0) return parseError(entry.offset, "'", name, "' is ", nameOf(entry.kind));
    if (name == "nd") map.isArray = entry.integer != 0;
    if (name == "type") map.stored.type = entry.text();
    if (name == "data") map.stored.bytes = entry.bytes;
    return std::nullopt;
  }

  std::optional<ParseError> takeShape(const MsgpackValue& array, std::vector<int64_t>& shape) {
    if (array.kind != Kind::array || array.items > mostArraySides) {
      return parseError(array.offset, "the shape is ", nameOf(array.kind), " of ", array.items,
                        " values; it must be an array of at most ", mostArraySides);
    }
    for (uint64_t i = 0; i < array.items; ++i) {
      const auto side = reader_.next();
      if (!side) return side.error();
      if (side.value().kind != Kind::integer) return parseError(side.value().offset, "a side of an array is no number");
      shape.push_back(side.value().integer);
    }
    return std::nullopt;
  }

  std::span<const uint8_t> bytes_;
  MsgpackReader reader_;
};

}  // namespace

Result<Datapoint> parseDatapoint(std::span<const uint8_t> bytes) {
  if (isPickle(bytes)) return ofPickle(bytes);
  constexpr uint8_t arrayOfTwo = 0x92;
  if (!bytes.empty() && bytes[0] == arrayOfTwo) return MsgpackDatapoint(bytes).read();
  return parseError(0, "this is neither a pickle nor MessagePack with ", wanted,
                    "; write it with TENSORPACK_SERIALIZE=pickle or msgpack");
}

}  // namespace tandem
