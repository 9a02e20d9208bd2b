#include "models/onnx/arithmetic.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "base/error.h"
#include "base/text.h"
#include "formats/onnx/onnx_tensor.h"
#include "models/onnx/gelu.h"
#include "models/onnx/layer_norm.h"

/// Operators that are computed of constants alone: sizes, places and numbers of exporters.
namespace tandem::onnx {
namespace {

const ElementType& typeOf(const Call& call, size_t input) { return *call.constant(input).tensor.type; }

bool isWholeType(const ElementType& type) { return type.name == "I64" || type.name == "I32"; }

void giveNumbers(Call& call, const ElementType& type, std::vector<int64_t> shape, std::span<const double> values) {
  const ElementType& stored = type.name == "F16" || type.name == "BF16" ? *elementTypeNamed("F32") : type;
  call.give(constantOf(call.in.memory, stored, std::move(shape), values));
}

/// The shape to which several shapes are expanded.
std::vector<int64_t> commonShape(std::span<const std::vector<int64_t>> shapes) {
  std::vector<int64_t> common;
  for (const auto& shape : shapes) {
    if (shape.size() > common.size()) common.insert(common.begin(), shape.size() - common.size(), 1);
    for (size_t d = 0; d < shape.size(); ++d) {
      int64_t& size = common[d + common.size() - shape.size()];
      if (size == 1) size = shape[d];
    }
  }
  return common;
}

std::vector<double> expandedNumbers(Call& call, size_t input, const std::vector<int64_t>& shape) {
  const Constant& constant = call.constant(input);
  return numbersOf(call.in.memory, constant.tensor.shape == shape ? constant : expanded(constant, shape));
}

void foldEach(Call& call, double (*f)(double)) {
  std::vector<double> values = numbersOf(call.in.memory, call.constant(0));
  for (double& value : values) value = f(value);
  giveNumbers(call, typeOf(call, 0), call.constant(0).tensor.shape, values);
}

void squareRoot(Call& call) {
  foldEach(call, [](double x) { return std::sqrt(x); });
}
void negate(Call& call) {
  foldEach(call, [](double x) { return -x; });
}
void reciprocal(Call& call) {
  foldEach(call, [](double x) { return quotient(1, x); });
}
void floor(Call& call) {
  foldEach(call, [](double x) { return std::floor(x); });
}
void ceil(Call& call) {
  foldEach(call, [](double x) { return std::ceil(x); });
}

void modulo(Call& call) {
  const bool likeC = call.whole("fmod", 0) != 0;
  foldPairs(call, [likeC](double a, double b) {
    if (b == 0) throw UsageError("a division by 0");
    const double rest = std::fmod(a, b);
    return !likeC && rest != 0 && (rest < 0) != (b < 0) ? rest + b : rest;
  });
}

void power(Call& call) {
  foldPairs(call, [](double a, double b) { return std::pow(a, b); });
}
/// A power of a view.
void powerOfTensor(Call& call) {
  const double exponent = call.isView(0) ? numberOf(call.constant(1)) : 0;
  if (exponent == 2) return squared(call);
  if (exponent != 3) throw UsageError("a power of a tensor with an exponent but 2 and 3");
  cubed(call);
}
void minimum(Call& call) {
  foldPairs(call, [](double a, double b) { return std::min(a, b); });
}
void maximum(Call& call) {
  foldPairs(call, [](double a, double b) { return std::max(a, b); });
}

void equal(Call& call) {
  const auto shape = commonShape(std::array{call.constant(0).tensor.shape, call.constant(1).tensor.shape});
  const auto a = expandedNumbers(call, 0, shape), b = expandedNumbers(call, 1, shape);
  std::vector<double> values;
  for (size_t i = 0; i < a.size(); ++i) values.push_back(a[i] == b[i] ? 1 : 0);
  giveNumbers(call, *elementTypeNamed("BOOL"), shape, values);
}

void where(Call& call) {
  const auto shape = commonShape(
      std::array{call.constant(0).tensor.shape, call.constant(1).tensor.shape, call.constant(2).tensor.shape});
  const auto chosen = expandedNumbers(call, 0, shape);
  const auto a = expandedNumbers(call, 1, shape), b = expandedNumbers(call, 2, shape);
  std::vector<double> values;
  for (size_t i = 0; i < a.size(); ++i) values.push_back(chosen[i] != 0 ? a[i] : b[i]);
  giveNumbers(call, typeOf(call, 1), shape, values);
}

void constantOfShape(Call& call) {
  const OnnxAttribute* const given = call.attribute("value");
  Constant value = constantOf(call.in.memory, *elementTypeNamed("F32"), {1}, std::array{0.0});
  if (given != nullptr && given->tensor) value.tensor = *given->tensor;
  call.give(expanded(value, wholesOf(call.in.memory, call.constant(0))));
}

void range(Call& call) {
  const double begin = numberOf(call.constant(0)), end = numberOf(call.constant(1)), step = numberOf(call.constant(2));
  constexpr double most = 65'536;
  const double count = step == 0 ? most + 1 : std::ceil((end - begin) / step);
  if (!(count <= most)) throw UsageError("it has more than 65536 values");
  if (count < 1) throw UsageError("it has no value");
  std::vector<double> values;
  for (int64_t i = 0; i < static_cast<int64_t>(count); ++i) values.push_back(begin + static_cast<double>(i) * step);
  giveNumbers(call, typeOf(call, 0), {static_cast<int64_t>(values.size())}, values);
}

void constantValue(Call& call) {
  const ElementType &whole = *elementTypeNamed("I64"), &real = *elementTypeNamed("F32");
  for (const OnnxAttribute& a : call.node().attributes) {
    if (a.tensor) return call.give(Constant{*a.tensor});
    if (a.whole && a.name == "value_int")
      return giveNumbers(call, whole, {}, std::array{static_cast<double>(*a.whole)});
    if (a.number) return giveNumbers(call, real, {}, std::array{static_cast<double>(*a.number)});
    const bool isWhole = a.name == "value_ints";
    if (!isWhole && a.name != "value_floats") continue;
    std::vector<double> values;
    for (const int64_t value : a.wholes) values.push_back(static_cast<double>(value));
    for (const float value : a.numbers) values.push_back(value);
    return giveNumbers(call, isWhole ? whole : real, {static_cast<int64_t>(values.size())}, values);
  }
  throw UsageError("it has no value that is read");
}

/// Casts between floating-point types change no element of what depends on the images; those to others would.
void giveFloating(Call& call, const ElementType* type) {
  if (type == nullptr) throw UsageError("the type is not read");
  if (!type->floating()) throw UsageError(concat("it makes ", type->name, " of what depends on the images"));
  call.give(call.item(0));
}

const ElementType* typeToCast(const Call& call) { return onnxElementType(static_cast<uint64_t>(call.whole("to", 0))); }

void cast(Call& call) { giveFloating(call, typeToCast(call)); }

void foldTo(Call& call, const ElementType* type) {
  if (type == nullptr) throw UsageError("the type is not read");
  const Constant& given = call.constant(0);
  if (given.tensor.type == type || (given.tensor.type->floating() && type->floating())) return call.give(given);
  std::vector<double> values = numbersOf(call.in.memory, given);
  if (isWholeType(*type)) {
    for (double& value : values) value = std::trunc(value);
  }
  giveNumbers(call, *type, given.tensor.shape, values);
}

void foldCast(Call& call) { foldTo(call, typeToCast(call)); }

void castLike(Call& call) {
  if (call.isView(0)) return giveFloating(call, call.isConstant(1) ? &typeOf(call, 1) : elementTypeNamed("F32"));
  foldTo(call, elementTypeNamed("F32"));  // the other input depends on the images, which are floating-point
}

void foldCastLike(Call& call) { foldTo(call, &typeOf(call, 1)); }

void reduceProduct(Call& call) {
  if (call.has(1) && call.constant(0).tensor.shape.size() != 1) {
    throw UsageError("it has axes; the product is computed of all numbers, or of one dimension");
  }
  double product = 1;
  for (const double value : numbersOf(call.in.memory, call.constant(0))) product *= value;
  const bool keeps = call.whole("keepdims", 1) != 0;
  giveNumbers(call, typeOf(call, 0),
              keeps ? std::vector<int64_t>(call.constant(0).tensor.shape.size(), 1) : std::vector<int64_t>(),
              std::array{product});
}

constexpr std::array rows{
    Operator{"Constant", nullptr, constantValue, "value value_int value_ints value_float value_floats"},
    Operator{"Cast", cast, foldCast, "to saturate"},
    Operator{"CastLike", castLike, foldCastLike, "saturate"},
    Operator{"Sqrt", deviation, squareRoot, ""},
    Operator{"Neg", nullptr, negate, ""},
    Operator{"Reciprocal", nullptr, reciprocal, ""},
    Operator{"Floor", nullptr, floor, ""},
    Operator{"Ceil", nullptr, ceil, ""},
    Operator{"Mod", nullptr, modulo, "fmod"},
    Operator{"Pow", powerOfTensor, power, ""},
    Operator{"Min", nullptr, minimum, ""},
    Operator{"Max", nullptr, maximum, ""},
    Operator{"Equal", nullptr, equal, ""},
    Operator{"Where", nullptr, where, ""},
    Operator{"ConstantOfShape", nullptr, constantOfShape, "value"},
    Operator{"Range", nullptr, range, ""},
    Operator{"ReduceProd", nullptr, reduceProduct, "keepdims"},
};

}  // namespace

void foldPairs(Call& call, const std::function<double(double, double)>& f) {
  if (call.inputs() != 2) throw UsageError("it must have two inputs");
  const ElementType& type = typeOf(call, 0);
  const auto shape = commonShape(std::array{call.constant(0).tensor.shape, call.constant(1).tensor.shape});
  const auto a = expandedNumbers(call, 0, shape), b = expandedNumbers(call, 1, shape);
  std::vector<double> values;
  for (size_t i = 0; i < a.size(); ++i) {
    const double value = f(a[i], b[i]);
    values.push_back(isWholeType(type) ? std::trunc(value) : value);
  }
  giveNumbers(call, type, shape, values);
}

double quotient(double a, double b) {
  if (b == 0) throw UsageError("a division by 0");
  return a / b;
}

bool near(double a, double b) {
  constexpr double tolerance = 1e-5;
  return std::abs(a - b) <= tolerance * std::max(1.0, std::abs(b));
}

std::span<const Operator> arithmeticOperators() { return rows; }

}  // namespace tandem::onnx
