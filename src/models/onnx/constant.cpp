#include "models/onnx/constant.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <numeric>

#include "base/error.h"
#include "base/text.h"
#include "base/utf8.h"
#include "formats/io/little_endian.h"

namespace tandem::onnx {
namespace {

constexpr uint64_t leastMemory = uint64_t{64} << 20, memoryPerModelByte = 8;
constexpr uint64_t mostNumbers = 65'536;

std::string named(const Constant& constant) { return concat("tensor '", escaped(constant.tensor.name), "'"); }

std::vector<int64_t> stridesOf(const FileTensor& tensor) {
  if (!tensor.strides.empty()) return tensor.strides;
  std::vector<int64_t> strides(tensor.shape.size());
  int64_t next = 1;
  for (size_t d = strides.size(); d-- > 0; next *= tensor.shape[d]) strides[d] = next;
  return strides;
}

/// A view from element `first` of the same bytes.
Constant viewOf(const Constant& constant, std::vector<int64_t> shape, const std::vector<int64_t>& strides,
                int64_t first = 0) {
  Constant view = constant;
  FileTensor& tensor = view.tensor;
  tensor.shape = std::move(shape);
  if (tensor.elements() == 0) {
    tensor.strides.clear();
    tensor.bytes = {};
    return view;
  }
  tensor.strides = stridesUnlessRowMajor(tensor.shape, strides);
  int64_t last = first;
  for (size_t d = 0; d < strides.size(); ++d) last += (tensor.shape[d] - 1) * strides[d];
  const uint64_t width = tensor.type->bytes;
  tensor.bytes =
      tensor.bytes.subspan(static_cast<uint64_t>(first) * width, static_cast<uint64_t>(last - first + 1) * width);
  return view;
}

double halfToDouble(uint16_t bits) {
  const int exponent = (bits >> 10) & 0x1F, fraction = bits & 0x3FF;
  const double sign = (bits & 0x8000) != 0 ? -1 : 1;
  if (exponent == 0x1F) return fraction != 0 ? NAN : sign * INFINITY;
  return sign * (exponent == 0 ? std::ldexp(fraction, -24) : std::ldexp(fraction + 1024, exponent - 25));
}

double numberAt(const FileTensor& tensor, std::span<const uint8_t> bytes, size_t at) {
  const std::string_view type = tensor.type->name;
  if (type == "F32") return littleEndian<float>(bytes, at);
  if (type == "F64") return littleEndian<double>(bytes, at);
  if (type == "I64") return static_cast<double>(littleEndian<int64_t>(bytes, at));
  if (type == "I32") return littleEndian<int32_t>(bytes, at);
  if (type == "BOOL") return bytes[at];
  if (type == "F16") return halfToDouble(littleEndian<uint16_t>(bytes, at));
  if (type == "BF16") {
    const uint32_t bits = static_cast<uint32_t>(littleEndian<uint16_t>(bytes, at)) << 16;
    float value = 0;
    std::memcpy(&value, &bits, sizeof value);
    return value;
  }
  throw UsageError(concat("tensor '", escaped(tensor.name), "' of type ", type, " cannot be computed with"));
}

template <class Number>
void append(std::vector<uint8_t>& bytes, double value) {
  appendLittleEndian(bytes, static_cast<Number>(value));
}

bool isExpandedNumber(const FileTensor& tensor) {
  return !tensor.strides.empty() && std::ranges::all_of(tensor.strides, [](int64_t stride) { return stride == 0; });
}

/// Values beyond the range of whole numbers become the nearest one; casting them would be undefined.
int64_t wholeOf(double value) {
  if (std::isnan(value)) return 0;
  if (value >= 0x1p63) return INT64_MAX;
  if (value < -0x1p63) return INT64_MIN;
  return static_cast<int64_t>(value);
}

}  // namespace

ConstantMemory::ConstantMemory(uint64_t modelBytes) : most_(leastMemory + memoryPerModelByte * modelBytes) {}

void ConstantMemory::requireRoom(uint64_t bytes) const {
  if (bytes <= most_ - bytes_) return;
  throw UsageError(concat("computed tensors come to more than ", most_, " bytes; fold constants in the exporter"));
}

std::span<const uint8_t> ConstantMemory::keep(std::vector<uint8_t> bytes) {
  requireRoom(bytes.size());
  bytes_ += bytes.size();
  tensors_.push_back(std::move(bytes));
  return tensors_.back();
}

void ConstantMemory::countRead(uint64_t numbers) {
  if (numbers > mostRead - read_) {
    throw UsageError(concat("more than ", mostRead, " numbers are computed with; fold constants in the exporter"));
  }
  read_ += numbers;
}

Constant constantOf(ConstantMemory& memory, const ElementType& type, std::vector<int64_t> shape,
                    std::span<const double> values) {
  std::vector<uint8_t> bytes;
  for (const double value : values) {
    if (type.name == "F64")
      append<double>(bytes, value);
    else if (type.name == "I64")
      appendLittleEndian(bytes, wholeOf(value));
    else if (type.name == "I32")
      append<int32_t>(bytes, std::clamp<double>(value, INT32_MIN, INT32_MAX));
    else if (type.name == "BOOL")
      bytes.push_back(value != 0 ? 1 : 0);
    else if (type.name == "F32")
      append<float>(bytes, value);
    else
      throw UsageError(concat("constants of type ", type.name, " cannot be computed"));
  }
  Constant constant;
  constant.tensor.type = &type;
  constant.tensor.shape = std::move(shape);
  constant.tensor.bytes = memory.keep(std::move(bytes));
  return constant;
}

std::vector<double> numbersOf(ConstantMemory& memory, const Constant& constant) {
  const FileTensor& tensor = constant.tensor;
  if (tensor.elements() > mostNumbers) {
    throw UsageError(concat(named(constant), " has ", tensor.elements(), " values; only ", mostNumbers,
                            " can be computed with; fold constants in the exporter"));
  }
  memory.countRead(tensor.elements());
  std::vector<uint8_t> scratch;
  const auto bytes = rowMajorBytes(tensor, scratch);
  std::vector<double> numbers;
  for (size_t at = 0; at < bytes.size(); at += tensor.type->bytes) numbers.push_back(numberAt(tensor, bytes, at));
  return numbers;
}

std::vector<int64_t> wholesOf(ConstantMemory& memory, const Constant& constant) {
  std::vector<int64_t> wholes;
  for (const double number : numbersOf(memory, constant)) wholes.push_back(wholeOf(number));
  return wholes;
}

bool isSingle(const Constant& constant) { return constant.tensor.elements() == 1; }

double numberOf(const Constant& constant) {
  if (!isSingle(constant)) {
    throw UsageError(concat(named(constant), " has ", constant.tensor.elements(), " values where one is needed"));
  }
  return numberAt(constant.tensor, constant.tensor.bytes, 0);
}

bool isExpandedZero(const Constant& constant) {
  return isExpandedNumber(constant.tensor) && numberAt(constant.tensor, constant.tensor.bytes, 0) == 0;
}

Constant transposed(const Constant& constant, std::span<const int64_t> order) {
  const auto strides = stridesOf(constant.tensor);
  std::vector<int64_t> newShape, newStrides;
  for (const int64_t from : order) {
    newShape.push_back(constant.tensor.shape.at(static_cast<size_t>(from)));
    newStrides.push_back(strides.at(static_cast<size_t>(from)));
  }
  return viewOf(constant, std::move(newShape), newStrides);
}

Constant expanded(const Constant& constant, std::span<const int64_t> shape) {
  const FileTensor& tensor = constant.tensor;
  std::vector<int64_t> own = tensor.shape, strides = stridesOf(tensor);
  std::vector<int64_t> wanted(shape.begin(), shape.end());
  const size_t rank = std::max(own.size(), wanted.size());
  own.insert(own.begin(), rank - own.size(), 1);
  strides.insert(strides.begin(), rank - strides.size(), 0);
  wanted.insert(wanted.begin(), rank - wanted.size(), 1);
  for (size_t d = 0; d < rank; ++d) {
    if (wanted[d] == 1) wanted[d] = own[d];
    if (wanted[d] < 1 || (own[d] != 1 && own[d] != wanted[d])) {
      throw UsageError(concat(named(constant), " cannot be expanded to dimension ", d, " of size ", wanted[d]));
    }
    if (own[d] == 1) strides[d] = 0;
  }
  if (!byteCount(wanted, tensor.type->bytes)) throw UsageError(concat(named(constant), " is expanded beyond 64 bits"));
  return viewOf(constant, std::move(wanted), strides);
}

Constant sliced(const Constant& constant, size_t d, int64_t begin, int64_t step, int64_t count) {
  std::vector<int64_t> shape = constant.tensor.shape, strides = stridesOf(constant.tensor);
  const int64_t size = shape.at(d);
  if (begin < 0 || step < 1 || count < 0 || begin > size || count > (size - begin + step - 1) / step) {
    throw UsageError(concat(named(constant), ": ", count, " items from ", begin, " of ", size, " do not fit"));
  }
  const int64_t first = begin * strides[d];
  shape[d] = count;
  strides[d] *= step;
  return viewOf(constant, std::move(shape), strides, first);
}

Constant reshaped(ConstantMemory& memory, const Constant& constant, std::vector<int64_t> shape) {
  const auto bytes = byteCount(shape, constant.tensor.type->bytes);
  if (!bytes || *bytes != constant.tensor.byteCount()) throw UsageError(concat(named(constant), " has another size"));
  if (isExpandedNumber(constant.tensor)) return viewOf(constant, shape, std::vector<int64_t>(shape.size(), 0));
  if (!constant.tensor.strides.empty()) memory.requireRoom(*bytes);
  Constant result = constant;
  std::vector<uint8_t> scratch;
  const auto rows = rowMajorBytes(constant.tensor, scratch);
  result.tensor.bytes = constant.tensor.strides.empty() ? rows : memory.keep(std::move(scratch));
  result.tensor.strides.clear();
  result.tensor.shape = std::move(shape);
  return result;
}

}  // namespace tandem::onnx
