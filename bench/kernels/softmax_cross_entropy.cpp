// Softmax cross-entropy with its gradient: the kernel, and the ATen operations of cross_entropy and its backward (in
// fp32, as autocast runs them). Minimum traffic: logits and labels (8 bytes a row) read, gradient written. So few bytes
// that the row shows what a call costs, not a bandwidth.
#include <ATen/ATen.h>

#include "kernels/loss/losses.h"
#include "rows.h"

namespace tandem::bench {
namespace {

constexpr int64_t ignoreNone = -100;

LossAndGradient byKernel(const at::Tensor& values, const at::Tensor& labels) {
  return softmaxCrossEntropy(values, labels, /*smoothing=*/0, values.size(0));
}

LossAndGradient byAten(const at::Tensor& values, const at::Tensor& labels) {
  const at::Tensor logProbabilities = at::_log_softmax(values.to(at::kFloat), 1, /*half_to_float=*/false);
  const auto [loss, weight] = at::nll_loss_forward(logProbabilities, labels, {}, at::Reduction::Mean, ignoreNone);
  const at::Tensor one = at::ones({});
  const at::Tensor gradient =
      at::nll_loss_backward(one, logProbabilities, labels, {}, at::Reduction::Mean, ignoreNone, weight);
  return {loss, at::_log_softmax_backward_data(gradient, logProbabilities, 1, at::kFloat).to(values.scalar_type())};
}

using Operation = LossAndGradient (*)(const at::Tensor&, const at::Tensor&);

void addRow(const Logits& shape, at::ScalarType type, const char* by, Operation operation, const Peaks& peaks) {
  const auto prepare = [=]() -> Call {
    const at::Tensor values = randomVector(shape.rows * shape.classes, type).view({shape.rows, shape.classes});
    const at::Tensor labels = at::randint(shape.classes, {shape.rows}, at::kLong);
    return [=] { operation(values, labels); };
  };
  const int64_t bytes = shape.rows * (2 * shape.classes * bytesOf(type) + 8);
  addByteRow(concat("softmax_cross_entropy/", shape.name, "/", nameOf(type), "/", by), peaks,
             static_cast<double>(bytes), prepare);
}

}  // namespace

void addSoftmaxCrossEntropyRows(const Peaks& peaks) {
  for (const Logits& shape : logits) {
    for (const at::ScalarType type : elementTypes) {
      addRow(shape, type, "kernel", byKernel, peaks);
      addRow(shape, type, "aten", byAten, peaks);
    }
  }
}

}  // namespace tandem::bench
