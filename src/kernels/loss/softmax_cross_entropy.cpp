#include <ATen/ATen.h>
#include <ATen/Parallel.h>
#include <ATen/core/grad_mode.h>
#include <c10/core/DeviceGuard.h>

#include <algorithm>
#include <numeric>
#include <vector>

#include "kernels/gpu/dispatch.h"
#include "kernels/loss/class_targets.h"
#include "kernels/loss/losses.h"
#include "kernels/loss/softmax_cross_entropy_kernel.h"

namespace tandem {
namespace {

constexpr int64_t grainElements = 1 << 13;

at::Tensor onCpu(const SoftmaxCrossEntropyArguments& given) {
  checkClasses(given.labels, given.rows, given.classes);
  std::vector<double> losses(static_cast<size_t>(given.rows));
  SoftmaxCrossEntropyArguments arguments = given;
  arguments.losses = losses.data();
  at::parallel_for(0, given.rows, std::max<int64_t>(1, grainElements / given.classes),
                   [&](int64_t first, int64_t last) {
                     std::vector<float> scratch(static_cast<size_t>(given.classes));
                     cpu::softmaxCrossEntropy(arguments, first, last, scratch.data());
                   });
  const double sum = std::accumulate(losses.begin(), losses.end(), 0.0);
  return at::full({}, sum / static_cast<double>(given.rows), at::kFloat);
}

at::Tensor onGpu(const SoftmaxCrossEntropyArguments& given, const at::Tensor& logits) {
  const c10::DeviceGuard guard(logits.device());
  at::Tensor losses = at::empty({given.rows}, logits.options().dtype(at::kDouble));
  at::Tensor loss = at::empty({}, logits.options().dtype(at::kFloat));
  SoftmaxCrossEntropyArguments arguments = given;
  arguments.losses = losses.data_ptr<double>();
  gpu::softmaxCrossEntropy(arguments, loss.data_ptr<float>(), currentStream(logits));
  return loss;
}

/// By ATen operations in the type `wide`. With targets t and weights u of the classes: the loss is that of targets t u,
/// whose sum is not 1.
LossAndGradient byAten(const at::Tensor& logits, const at::Tensor& labels, double smoothing, double divisor,
                       const at::Tensor& classWeights, at::ScalarType wide) {
  const at::NoGradGuard noGradients;
  const at::Tensor logProbabilities = at::log_softmax(logits.to(wide), 1);
  at::Tensor target = smoothedTargets(labels, logits.size(1), smoothing, wide);
  at::Tensor predicted = logProbabilities.exp();
  if (classWeights.defined()) {
    target = target * classWeights.to(wide);
    predicted = predicted * target.sum(1, /*keepdim=*/true);
  }
  const at::Tensor loss = -(target * logProbabilities).sum() / logits.size(0);
  const at::Tensor gradient = (predicted - target) / divisor;
  return {loss.to(at::kFloat), gradient.to(logits.scalar_type())};
}

}  // namespace

LossAndGradient softmaxCrossEntropy(const at::Tensor& logits, const at::Tensor& labels, double smoothing,
                                    double divisor, const at::Tensor& classWeights) {
  checkClassLabels(logits, labels, divisor, classWeights);
  if (areShares(labels) || classWeights.defined()) {
    if (labels.is_cpu() && !areShares(labels)) {
      checkClasses(labels.contiguous().const_data_ptr<int64_t>(), labels.size(0), logits.size(1));
    }
    return byAten(logits, labels, smoothing, divisor, classWeights, at::kFloat);
  }
  const at::Tensor rows = logits.contiguous(), classes = labels.contiguous();
  at::Tensor gradient = at::empty_like(rows);
  const SoftmaxCrossEntropyArguments arguments{rows.const_data_ptr(),
                                               classes.const_data_ptr<int64_t>(),
                                               gradient.data_ptr(),
                                               elementOf(logits, "softmaxCrossEntropy"),
                                               rows.size(0),
                                               rows.size(1),
                                               static_cast<float>(smoothing),
                                               static_cast<float>(1.0 / divisor),
                                               nullptr};
  return {logits.is_cpu() ? onCpu(arguments) : onGpu(arguments, rows), gradient};
}

LossAndGradient softmaxCrossEntropyReference(const at::Tensor& logits, const at::Tensor& labels, double smoothing,
                                             double divisor, const at::Tensor& classWeights) {
  return byAten(logits, labels, smoothing, divisor, classWeights, at::kDouble);
}

}  // namespace tandem
