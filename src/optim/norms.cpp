#include "optim/norms.h"

#include <ATen/ATen.h>

namespace tandem {
namespace {

constexpr int64_t rowElements = 4096;

}  // namespace

at::Tensor sumOfSquares(const at::Tensor& values) {
  const at::ScalarType type = values.scalar_type() == at::kDouble ? at::kDouble : at::kFloat;
  const auto ofRows = [type](const at::Tensor& rows) {
    return at::linalg_vector_norm(rows, 2, at::IntArrayRef{1}, /*keepdim=*/false, type).to(at::kDouble).square().sum();
  };
  const int64_t count = values.numel(), rows = count / rowElements, whole = rows * rowElements;
  if (rows == 0) return ofRows(values.view({1, count}));
  const at::Tensor sum = ofRows(values.narrow(0, 0, whole).view({rows, rowElements}));
  return whole == count ? sum : sum + ofRows(values.narrow(0, whole, count - whole).view({1, count - whole}));
}

at::Tensor ratioOrOne(const at::Tensor& ratio, const at::Tensor& first, const at::Tensor& second) {
  return at::where(first.gt(0).logical_and(second.gt(0)), ratio, at::ones_like(ratio));
}

}  // namespace tandem
