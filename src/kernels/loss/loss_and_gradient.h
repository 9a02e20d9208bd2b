#pragma once

#include <ATen/core/Tensor.h>

namespace tandem {

struct LossAndGradient {
  at::Tensor loss;      ///< [] fp32, the mean over the rows
  at::Tensor gradient;  ///< like the logits: d loss / d logits, for a mean over `divisor` rows
};

}  // namespace tandem
