#include "formats/objects/pickled_array.h"

#include <algorithm>
#include <iterator>
#include <string>

namespace tandem {
namespace {

using Kind = PickleValue::Kind;

constexpr std::string_view arrayName = "numpy.ndarray", typeName = "numpy.dtype";
// The modules have these names since NumPy 1.x and since NumPy 2.
constexpr std::string_view reconstruct[] = {"numpy.core.multiarray._reconstruct",
                                            "numpy._core.multiarray._reconstruct"};
constexpr std::string_view fromBuffer[] = {"numpy.core.numeric._frombuffer", "numpy._core.numeric._frombuffer"};
constexpr std::string_view scalar[] = {"numpy.core.multiarray.scalar", "numpy._core.multiarray.scalar"};

constexpr std::string_view named[] = {arrayName};
constexpr std::string_view callable[] = {fromBuffer[0], fromBuffer[1], scalar[0], scalar[1], "_codecs.encode"};
constexpr std::string_view buildable[] = {reconstruct[0], reconstruct[1], typeName};

/// Whether the value is a call of one of these functions, with the state that some have.
bool isCall(const Pickle& pickle, const PickleValue& value, std::span<const std::string_view> functions, bool state) {
  return value.kind == Kind::reduced && (value.items.size() == 3) == state &&
         std::ranges::find(functions, pickle.item(value, 0).text) != functions.end();
}

/// Whether the items of a tuple have these kinds. An item with the kind `none` may be of any.
bool areKinds(const Pickle& pickle, const PickleValue& tuple, std::span<const Kind> kinds) {
  if (tuple.items.size() < kinds.size()) return false;
  for (size_t i = 0; i < kinds.size(); ++i) {
    const PickleValue& item = pickle.item(tuple, i);
    const bool fits = kinds[i] == Kind::text ? item.isString() : item.kind == kinds[i];
    if (kinds[i] != Kind::none && !fits) return false;
  }
  return true;
}

/// The type as in NumpyBytes. It is made by dtype(code, align, copy), whose state is (version, order of bytes, and what
/// makes it a type of parts).
Result<std::string> typeOf(const Pickle& pickle, const PickleValue& value) {
  constexpr std::string_view makers[] = {typeName};
  constexpr Kind made[] = {Kind::text}, state[] = {Kind::integer, Kind::text};
  const bool formed = isCall(pickle, value, makers, true) && areKinds(pickle, pickle.item(value, 1), made) &&
                      areKinds(pickle, pickle.item(value, 2), state);
  if (!formed) return parseError(value.offset, "the type of an array or a number is not that of NumPy");
  return concat(pickle.item(pickle.item(value, 2), 1).text, pickle.item(pickle.item(value, 1), 0).text);
}

Result<std::vector<int64_t>> shapeOf(const Pickle& pickle, const PickleValue& tuple) {
  std::vector<int64_t> shape;
  for (size_t i = 0; i < tuple.items.size(); ++i) {
    const PickleValue& side = pickle.item(tuple, i);
    if (side.kind != Kind::integer) return parseError(side.offset, "a side of an array is ", nameOf(side.kind));
    shape.push_back(side.integer);
  }
  return shape;
}

struct ArrayParts {
  const PickleValue &type, &shape, &bytes;
};

Result<ByteArray> arrayOf(const Pickle& pickle, const ArrayParts& parts) {
  const auto type = typeOf(pickle, parts.type);
  if (!type) return type.error();
  auto shape = shapeOf(pickle, parts.shape);
  if (!shape) return shape.error();
  return byteArrayOf({parts.bytes.offset, type.value(), asBytes(parts.bytes.text)}, std::move(shape.value()));
}

ParseError fortranError(const PickleValue& value) {
  return parseError(value.offset,
                    "the array is stored in Fortran's order; store a copy made by numpy.ascontiguousarray");
}

}  // namespace

PickleRules arrayRules(std::string_view content, std::string_view advice) {
  return {.content = content,
          .advice = advice,
          .opcodes = PickleOpcodes::ofArrays,
          .newestProtocol = 5,
          .named = named,
          .callable = callable,
          .buildable = buildable};
}

Result<ByteArray> byteArrayOf(const Pickle& pickle, const PickleValue& value) {
  // _reconstruct(ndarray, (0,), b'b') has the state (version, shape, type, whether in Fortran's order, bytes).
  constexpr Kind state[] = {Kind::integer, Kind::tuple, Kind::none, Kind::none, Kind::bytes};
  if (isCall(pickle, value, reconstruct, true) && areKinds(pickle, pickle.item(value, 2), state)) {
    const PickleValue& parts = pickle.item(value, 2);
    if (pickle.item(parts, 3).integer != 0) return fortranError(value);
    return arrayOf(pickle, {pickle.item(parts, 2), pickle.item(parts, 1), pickle.item(parts, 4)});
  }
  // The arguments of _frombuffer are (bytes, type, shape, order).
  constexpr Kind arguments[] = {Kind::bytes, Kind::none, Kind::tuple, Kind::text};
  if (isCall(pickle, value, fromBuffer, false) && areKinds(pickle, pickle.item(value, 1), arguments)) {
    const PickleValue& parts = pickle.item(value, 1);
    if (pickle.item(parts, 3).text != "C") return fortranError(value);
    return arrayOf(pickle, {pickle.item(parts, 1), pickle.item(parts, 2), pickle.item(parts, 0)});
  }
  return parseError(value.offset, "this is ", nameOf(value.kind), ", not an array of NumPy");
}

Result<int64_t> integerOf(const Pickle& pickle, const PickleValue& value) {
  if (value.kind == Kind::integer) return value.integer;
  constexpr Kind arguments[] = {Kind::none, Kind::bytes};
  if (!isCall(pickle, value, scalar, false) || !areKinds(pickle, pickle.item(value, 1), arguments)) {
    return parseError(value.offset, "this is ", nameOf(value.kind), ", not a whole number");
  }
  const PickleValue& parts = pickle.item(value, 1);
  const auto type = typeOf(pickle, pickle.item(parts, 0));
  if (!type) return type.error();
  return integerOf({value.offset, type.value(), asBytes(pickle.item(parts, 1).text)});
}

}  // namespace tandem
