#pragma once

#include <ATen/ATen.h>

namespace tandem {

/// |actual - expected| / |expected| by the 2-norm, in fp64.
inline double relativeError(const at::Tensor& actual, const at::Tensor& expected) {
  const at::Tensor a = actual.to(at::kCPU, at::kDouble), e = expected.to(at::kCPU, at::kDouble);
  const double difference = (a - e).norm().item<double>(), size = e.norm().item<double>();
  return size > 0 ? difference / size : difference;
}

}  // namespace tandem
