#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>
#include <torch/csrc/autograd/autograd.h>

#include <limits>

#include "base/error.h"
#include "base/text.h"
#include "kernels/loss/losses.h"

namespace tandem {
namespace {

void checkShapes(const at::Tensor& logits, const at::Tensor& labels, double divisor, const at::Tensor& classWeights) {
  check(logits.dim() == 2 && logits.size(0) > 0 && logits.size(1) > 0, "binaryCrossEntropy: logits [N, K]");
  check(labels.sizes() == logits.sizes() && (labels.scalar_type() == at::kByte || labels.scalar_type() == at::kFloat),
        "binaryCrossEntropy: labels [N, K] uint8 or float");
  check(labels.device() == logits.device(), "binaryCrossEntropy: one device");
  check(divisor > 0, "binaryCrossEntropy: divisor above 0");
  check(!classWeights.defined() || (classWeights.dim() == 1 && classWeights.size(0) == logits.size(1) &&
                                    classWeights.device() == logits.device()),
        "binaryCrossEntropy: class weights [K] on the device of the logits");
}

void checkLabels(const at::Tensor& labels) {
  const at::Tensor bad = labels.gt(1).nonzero();
  if (bad.size(0) == 0) return;
  const int64_t row = bad[0][0].item<int64_t>(), output = bad[0][1].item<int64_t>();
  throw DataError(concat("label ", labels[row][output].item<int64_t>(), " of output ", output, " in row ", row,
                         " of the batch: with several classes per image each label is 0 or 1; check the data"));
}

}  // namespace

LossAndGradient binaryCrossEntropy(const at::Tensor& logits, const at::Tensor& labels, double smoothing, double divisor,
                                   const at::Tensor& classWeights) {
  const at::NoGradGuard noGradients;
  checkShapes(logits, labels, divisor, classWeights);
  if (labels.is_cpu() && labels.scalar_type() == at::kByte) checkLabels(labels);
  const at::Tensor wide = logits.to(at::kFloat);
  at::Tensor target = labels.to(at::kFloat) * (1 - smoothing) + smoothing / 2;
  if (!labels.is_cpu()) target = target.masked_fill(labels.gt(1), std::numeric_limits<double>::quiet_NaN());
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

LossAndGradient binaryCrossEntropyReference(const at::Tensor& logits, const at::Tensor& labels, double smoothing,
                                            double divisor, const at::Tensor& classWeights) {
  const at::AutoGradMode gradients(true);
  const at::Tensor leaf = logits.detach().to(at::kDouble, /*non_blocking=*/false, /*copy=*/true).requires_grad_();
  const at::Tensor target = labels.to(at::kDouble) * (1 - smoothing) + smoothing / 2;
  const at::Tensor weights = classWeights.defined() ? classWeights.to(at::kDouble) : at::Tensor();
  const at::Tensor loss = at::binary_cross_entropy_with_logits(leaf, target, {}, weights);
  const at::Tensor gradient = torch::autograd::grad({loss}, {leaf}).front() * logits.size(0) / divisor;
  return {loss.detach().to(at::kFloat), gradient.to(logits.scalar_type())};
}

}  // namespace tandem
