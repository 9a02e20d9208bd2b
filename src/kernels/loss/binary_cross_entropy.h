#pragma once

#include "kernels/loss/loss_and_gradient.h"

namespace tandem {

/// Binary cross-entropy of sigmoid(logits), each output by itself, with label smoothing (targets (1 - s) label + s /
/// 2), in fp32 inside. logits [N, K] float or bfloat16, labels [N, K] uint8 of 0 and 1. The loss is the mean over all N
/// K elements, the gradient is (sigmoid - target) / (divisor K); `divisor` is N unless rows of several replicas are
/// joined. Throws DataError for another label; on a GPU that makes the loss NaN instead. A few ATen calls on tensors
/// far smaller than any activation: a kernel of its own would not show.
LossAndGradient binaryCrossEntropy(const at::Tensor& logits, const at::Tensor& labels, double smoothing,
                                   int64_t divisor);

}  // namespace tandem
