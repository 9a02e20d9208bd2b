#pragma once

#include <ATen/ATen.h>

#include <algorithm>
#include <cmath>

namespace tandem {

/// The elements in the order in which they lie in memory of that format, [n].
inline at::Tensor inMemoryOf(const at::Tensor& tensor, at::MemoryFormat format) {
  const at::Tensor dense = tensor.contiguous(format);
  return dense.as_strided({dense.numel()}, {1});
}

/// The norm of part(first, count) over `count` elements, in double. Part by part: what is computed of a part stays in
/// the processor's cache, where that of a whole layer would go through memory several times.
template <class Part>
double normOfParts(int64_t count, const Part& part) {
  constexpr int64_t most = 1 << 14;
  double squares = 0;
  for (int64_t first = 0; first < count; first += most) {
    const at::Tensor values = part(first, std::min(most, count - first));
    squares += std::pow(values.norm().item<double>(), 2);
  }
  return std::sqrt(squares);
}

/// |tensor|, in double.
inline double exactNorm(const at::Tensor& tensor) {
  const at::Tensor host = tensor.to(at::kCPU), dense = host.is_non_overlapping_and_dense() ? host : host.contiguous();
  const at::Tensor values = dense.as_strided({dense.numel()}, {1});  // in any order
  return normOfParts(values.numel(),
                     [&](int64_t first, int64_t count) { return values.narrow(0, first, count).to(at::kDouble); });
}

/// |actual - exact|, in double.
inline double exactDistance(const at::Tensor& actual, const at::Tensor& exact) {
  const at::MemoryFormat format = actual.suggest_memory_format();
  const at::Tensor values = inMemoryOf(actual.to(at::kCPU), format), wanted = inMemoryOf(exact, format);
  return normOfParts(values.numel(), [&](int64_t first, int64_t count) {
    return values.narrow(0, first, count).to(at::kDouble) - wanted.narrow(0, first, count);
  });
}

}  // namespace tandem
