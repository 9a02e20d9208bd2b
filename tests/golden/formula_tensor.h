#pragma once

#include <ATen/ATen.h>
#include <ATen/Parallel.h>

#include <string_view>
#include <vector>

#include "golden/formula.h"

namespace tandem {

/// The tensor of that name, fp32 in NCHW or OIHW order.
inline at::Tensor formulaTensor(std::string_view name, const std::vector<int64_t>& shape, bool isBatchNorm = false) {
  at::Tensor tensor = at::empty(shape, at::kFloat);
  auto* const values = tensor.data_ptr<float>();
  at::parallel_for(0, tensor.numel(), 1 << 16, [&](int64_t first, int64_t last) {
    golden::fill({name, shape, isBatchNorm}, static_cast<size_t>(first), {values + first, values + last});
  });
  return tensor;
}

}  // namespace tandem
