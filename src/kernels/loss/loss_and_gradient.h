#pragma once

#include <ATen/core/Tensor.h>

namespace tandem {

struct LossAndGradient {
  at::Tensor loss;      ///< [] fp32: mean over the rows
  at::Tensor gradient;  ///< like the logits: d loss / d logits, of the mean over `divisor` rows
};

}  // namespace tandem
