#include "train/checkpoint/torch_tensors.h"

#include <algorithm>
#include <array>
#include <string_view>

#include "base/error.h"

namespace tandem {
namespace {

struct TypePair {
  std::string_view element;
  at::ScalarType scalar;
};

constexpr std::array pairs{TypePair{"F16", at::kHalf},   TypePair{"BF16", at::kBFloat16}, TypePair{"F32", at::kFloat},
                           TypePair{"F64", at::kDouble}, TypePair{"I64", at::kLong},      TypePair{"I32", at::kInt},
                           TypePair{"U8", at::kByte}};

}  // namespace

std::optional<at::ScalarType> scalarTypeOf(const ElementType& type) {
  const auto row = std::ranges::find(pairs, type.name, &TypePair::element);
  if (row == pairs.end()) return std::nullopt;
  return row->scalar;
}

FileTensor fileTensorOf(std::string name, const at::Tensor& values) {
  const auto row = std::ranges::find(pairs, values.scalar_type(), &TypePair::scalar);
  check(row != pairs.end() && values.is_contiguous(), "fileTensorOf: type or strides");
  FileTensor tensor;
  tensor.name = std::move(name);
  tensor.type = elementTypeNamed(row->element);
  tensor.shape = values.sizes().vec();
  tensor.bytes = {static_cast<const uint8_t*>(values.const_data_ptr()), values.nbytes()};
  return tensor;
}

}  // namespace tandem
