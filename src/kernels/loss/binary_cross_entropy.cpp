#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>
#include <torch/csrc/autograd/autograd.h>

#include <limits>

#include "base/error.h"
#include "base/text.h"
#include "kernels/loss/class_targets.h"
#include "kernels/loss/losses.h"

namespace tandem {
namespace {

void checkShapes(const at::Tensor& logits, const at::Tensor& labels, double divisor, const at::Tensor& classWeights) {
  check(logits.dim() == 2 && logits.size(0) > 0 && logits.size(1) > 0, "binaryCrossEntropy: logits [N, K]");
  check(labels.sizes() == logits.sizes() && (labels.scalar_type() == at::kByte || labels.scalar_type() == at::kFloat),
        "binaryCrossEntropy: labels [N, K] uint8 or float");
  checkTerms(logits, labels, divisor, classWeights);
}

void checkLabels(const at::Tensor& labels) {
  const at::Tensor bad = labels.gt(1).nonzero();
  if (bad.size(0) == 0) return;
  const int64_t row = bad[0][0].item<int64_t>(), output = bad[0][1].item<int64_t>();
  throw DataError(concat("label ", labels[row][output].item<int64_t>(), " of output ", output, " in row ", row,
                         " of the batch: with several classes per image each label is 0 or 1; check the data"));
}

/// Of targets [N, K] in fp32.
LossAndGradient ofTargets(const at::Tensor& logits, const at::Tensor& target, double divisor,
                          const at::Tensor& classWeights) {
  const at::Tensor wide = logits.to(at::kFloat);
  const double terms = divisor * static_cast<double>(logits.size(1));
  if (classWeights.defined()) {
    const at::Tensor weights = classWeights.to(at::kFloat), positive = target * weights;
    const at::Tensor loss = at::binary_cross_entropy_with_logits(wide, target, {}, weights);
    const at::Tensor gradient = (wide.sigmoid() * (positive + (1 - target)) - positive) / terms;
    return {loss, gradient.to(logits.scalar_type())};
  }
  const at::Tensor loss = at::binary_cross_entropy_with_logits(wide, target);
  const at::Tensor gradient = (wide.sigmoid() - target) / terms;
  return {loss, gradient.to(logits.scalar_type())};
}

/// Of targets [N, K] in fp64.
LossAndGradient ofTargetsReference(const at::Tensor& logits, const at::Tensor& target, double divisor,
                                   const at::Tensor& classWeights) {
  const at::AutoGradMode gradients(true);
  const at::Tensor leaf = logits.detach().to(at::kDouble, /*non_blocking=*/false, /*copy=*/true).requires_grad_();
  const at::Tensor weights = classWeights.defined() ? classWeights.to(at::kDouble) : at::Tensor();
  const at::Tensor loss = at::binary_cross_entropy_with_logits(leaf, target, {}, weights);
  const at::Tensor gradient = torch::autograd::grad({loss}, {leaf}).front() * logits.size(0) / divisor;
  return {loss.detach().to(at::kFloat), gradient.to(logits.scalar_type())};
}

constexpr double notANumber = std::numeric_limits<double>::quiet_NaN();

/// Targets of one class per image in the type `wide`. They are compared in fp32 whatever that is, so that all types
/// agree on which are above the threshold.
at::Tensor oneHotTargets(const at::Tensor& labels, int64_t classes, double smoothing, double threshold,
                         at::ScalarType wide) {
  if (threshold >= 1) return smoothedTargets(labels, classes, smoothing, wide);
  const at::Tensor target = smoothedTargets(labels, classes, smoothing, at::kFloat);
  return target.gt(threshold).to(wide).masked_fill(target.isnan(), notANumber);
}

}  // namespace

LossAndGradient binaryCrossEntropy(const at::Tensor& logits, const at::Tensor& labels, double smoothing, double divisor,
                                   const at::Tensor& classWeights) {
  const at::NoGradGuard noGradients;
  checkShapes(logits, labels, divisor, classWeights);
  if (labels.is_cpu() && labels.scalar_type() == at::kByte) checkLabels(labels);
  at::Tensor target = labels.to(at::kFloat) * (1 - smoothing) + smoothing / 2;
  if (!labels.is_cpu()) target = target.masked_fill(labels.gt(1), notANumber);
  return ofTargets(logits, target, divisor, classWeights);
}

LossAndGradient binaryCrossEntropyReference(const at::Tensor& logits, const at::Tensor& labels, double smoothing,
                                            double divisor, const at::Tensor& classWeights) {
  const at::Tensor target = labels.to(at::kDouble) * (1 - smoothing) + smoothing / 2;
  return ofTargetsReference(logits, target, divisor, classWeights);
}

LossAndGradient oneHotBinaryCrossEntropy(const at::Tensor& logits, const at::Tensor& labels, double smoothing,
                                         double divisor, double threshold, const at::Tensor& classWeights) {
  const at::NoGradGuard noGradients;
  checkClassLabels(logits, labels, divisor, classWeights);
  if (labels.is_cpu() && !areShares(labels)) {
    checkClasses(labels.contiguous().const_data_ptr<int64_t>(), labels.size(0), logits.size(1));
  }
  const at::Tensor target = oneHotTargets(labels, logits.size(1), smoothing, threshold, at::kFloat);
  return ofTargets(logits, target, divisor, classWeights);
}

LossAndGradient oneHotBinaryCrossEntropyReference(const at::Tensor& logits, const at::Tensor& labels, double smoothing,
                                                  double divisor, double threshold, const at::Tensor& classWeights) {
  const at::Tensor target = oneHotTargets(labels, logits.size(1), smoothing, threshold, at::kDouble);
  return ofTargetsReference(logits, target, divisor, classWeights);
}

}  // namespace tandem
