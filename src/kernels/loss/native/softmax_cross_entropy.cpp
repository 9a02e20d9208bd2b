#include <math.h>

#include "kernels/loss/softmax_cross_entropy_kernel.h"
#include "kernels/simd/target_clones.h"

namespace tandem::cpu {
namespace {

TANDEM_INLINE float largest(const float* values, int64_t count) {
  float most = values[0];
  for (int64_t i = 1; i < count; ++i) most = values[i] > most ? values[i] : most;
  return most;
}

// Leaves exp(x - max) in `row`. With S = sum exp(x - max) and m = max:
//   loss = log S - (1 - s) (x_label - m) - s / K sum (x_k - m)
template <class T>
TANDEM_INLINE void lossOfRow(const SoftmaxCrossEntropyArguments& a, int64_t index, float* __restrict row) {
  const T* const logits = static_cast<const T*>(a.logits) + index * a.classes;
  for (int64_t k = 0; k < a.classes; ++k) row[k] = toFloat(logits[k]);
  const float most = largest(row, a.classes);
  const int64_t label = a.labels[index];
  const double atLabel = static_cast<double>(row[label]) - most;
  double shifted = 0, exponentials = 0;
  for (int64_t k = 0; k < a.classes; ++k) {
    const float difference = row[k] - most;
    row[k] = expf(difference);
    shifted += difference;
    exponentials += row[k];
  }
  const double uniform = static_cast<double>(a.smoothing) / static_cast<double>(a.classes);
  a.losses[index] = log(exponentials) - (1.0 - a.smoothing) * atLabel - uniform * shifted;

  T* const gradient = static_cast<T*>(a.gradient) + index * a.classes;
  const float inverse = static_cast<float>(1.0 / exponentials), target = static_cast<float>(uniform);
  for (int64_t k = 0; k < a.classes; ++k) gradient[k] = fromFloat<T>((row[k] * inverse - target) * a.factor);
  const float probability = row[label] * inverse;
  gradient[label] = fromFloat<T>((probability - target - (1.0F - a.smoothing)) * a.factor);
}

}  // namespace

TANDEM_CLONES void softmaxCrossEntropy(const SoftmaxCrossEntropyArguments& a, int64_t first, int64_t last,
                                       float* scratch) {
  withElement(a.type, [&](auto kind) TANDEM_INLINE_LAMBDA {
    for (int64_t row = first; row < last; ++row) lossOfRow<decltype(kind)>(a, row, scratch);
  });
}

}  // namespace tandem::cpu
