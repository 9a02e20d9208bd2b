#pragma once

#include "kernels/loss/loss_and_gradient.h"

namespace tandem {

/// Softmax cross-entropy with label smoothing, computed in fp32 in one pass. The targets are (1 - s) one-hot + s / K.
/// logits [N, K] float or bfloat16, labels [N] int64 in [0, K). The loss is the sum over rows / N. The gradient is
/// (softmax - target) / divisor; `divisor` is N unless rows of several replicas are joined.
LossAndGradient softmaxCrossEntropy(const at::Tensor& logits, const at::Tensor& labels, double smoothing,
                                    int64_t divisor);

/// The same with ATen operations: the oracle of the tests.
LossAndGradient softmaxCrossEntropyReference(const at::Tensor& logits, const at::Tensor& labels, double smoothing,
                                             int64_t divisor);

}  // namespace tandem
