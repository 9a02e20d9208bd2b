#pragma once

#include "kernels/loss/loss_and_gradient.h"

namespace tandem {

/// Binary cross-entropy of sigmoid(logits), output by output, computed in fp32. Label smoothing makes the targets (1 -
/// s) label + s / 2. logits [N, K] float or bfloat16, labels [N, K] uint8 of 0 and 1. The loss is the mean over all N K
/// elements. The gradient is (sigmoid - target) / (divisor K); `divisor` is N unless rows of several replicas are
/// joined. Throws DataError for any other label; on a GPU such a label makes the loss NaN. A few ATen calls suffice:
/// these tensors are far smaller than any activation.
LossAndGradient binaryCrossEntropy(const at::Tensor& logits, const at::Tensor& labels, double smoothing,
                                   int64_t divisor);

}  // namespace tandem
