#pragma once

#include <cstdint>
#include <deque>
#include <span>
#include <string>
#include <vector>

#include "formats/weights/file_tensor.h"

namespace tandem::onnx {

/// A tensor whose values the model says, or that follows from them.
struct Constant {
  FileTensor tensor;  ///< a view; its name is that of the value, which may be an initializer
};

/// Memory of tensors that are computed while a model is read. They live as long as this object.
class ConstantMemory {
 public:
  /// All tensors together may have 64 MiB and eight times the bytes of the model: those that a reader needs are few.
  explicit ConstantMemory(uint64_t modelBytes);
  /// Throws UsageError if all tensors together would exceed the limit. Call it before a tensor of that size is made.
  void requireRoom(uint64_t bytes) const;
  /// Throws as requireRoom().
  std::span<const uint8_t> keep(std::vector<uint8_t> bytes);
  /// How many numbers of tensors all nodes together may compute with: sizes and places are few.
  static constexpr uint64_t mostRead = uint64_t{1} << 25;
  /// Throws UsageError if all numbers together would be more. Call it before numbers are read.
  void countRead(uint64_t numbers);

 private:
  const uint64_t most_;
  std::deque<std::vector<uint8_t>> tensors_;
  uint64_t bytes_ = 0, read_ = 0;
};

/// A row-major tensor of the values, of an element type that numbersOf() reads. Throws as keep().
Constant constantOf(ConstantMemory& memory, const ElementType& type, std::vector<int64_t> shape,
                    std::span<const double> values);

/// All values, row-major. Throws UsageError for more than 65,536 values, for types other than F16, BF16, F32, F64, I32,
/// I64 and BOOL, and as countRead(). Whole numbers beyond 2^53 are rounded.
std::vector<double> numbersOf(ConstantMemory& memory, const Constant& constant);
std::vector<int64_t> wholesOf(ConstantMemory& memory, const Constant& constant);

/// The one value. Throws UsageError if there are several.
double numberOf(const Constant& constant);
bool isSingle(const Constant& constant);

/// The values are zeros that one number was expanded to: a bias that an exporter added.
bool isExpandedZero(const Constant& constant);

/// Views of the same bytes. Throw UsageError for indexes and sizes that do not fit.
Constant transposed(const Constant& constant, std::span<const int64_t> order);
Constant expanded(const Constant& constant, std::span<const int64_t> shape);
/// `count` items of dimension `d` from `begin`, every `step`-th; there may be none.
Constant sliced(const Constant& constant, size_t d, int64_t begin, int64_t step, int64_t count);
/// The same values in another shape of as many. A copy if they do not lie row by row and are not one number.
Constant reshaped(ConstantMemory& memory, const Constant& constant, std::vector<int64_t> shape);

}  // namespace tandem::onnx
