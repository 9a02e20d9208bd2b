#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>

namespace tandem {

/// Throws InternalError unless logits [N, K] and labels are on one device, with class weights [K] there or none, and
/// the divisor is above 0.
void checkTerms(const at::Tensor& logits, const at::Tensor& labels, double divisor, const at::Tensor& classWeights);

/// Labels of networks that choose one class per image: [N] int64 in [0, K), or the share of each class, [N, K] float.
/// Throws InternalError unless logits [N, K] and labels fit, and as checkTerms() does.
void checkClassLabels(const at::Tensor& logits, const at::Tensor& labels, double divisor,
                      const at::Tensor& classWeights);

/// Throws DataError for a label outside [0, classes), which names its row.
void checkClasses(const int64_t* labels, int64_t rows, int64_t classes);

inline bool areShares(const at::Tensor& labels) { return labels.dim() == 2; }

/// Targets [N, classes] in the type `type`: (1 - s) labels + s / K, where labels that are a class count as one-hot
/// rows. A label that is no class makes its row NaN.
at::Tensor smoothedTargets(const at::Tensor& labels, int64_t classes, double smoothing, at::ScalarType type);

}  // namespace tandem
