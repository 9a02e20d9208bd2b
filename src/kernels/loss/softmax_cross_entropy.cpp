#include <ATen/ATen.h>
#include <ATen/Parallel.h>
#include <ATen/core/grad_mode.h>
#include <c10/core/DeviceGuard.h>

#include <algorithm>
#include <limits>
#include <numeric>
#include <vector>

#include "base/error.h"
#include "base/text.h"
#include "kernels/gpu/dispatch.h"
#include "kernels/loss/losses.h"
#include "kernels/loss/softmax_cross_entropy_kernel.h"

namespace tandem {
namespace {

constexpr int64_t grainElements = 1 << 13;

void checkShapes(const at::Tensor& logits, const at::Tensor& labels, double divisor, const at::Tensor& classWeights) {
  check(logits.dim() == 2 && logits.size(0) > 0 && logits.size(1) > 0, "softmaxCrossEntropy: logits [N, K]");
  const bool shares = labels.scalar_type() == at::kFloat && labels.sizes() == logits.sizes();
  check(shares || (labels.dim() == 1 && labels.size(0) == logits.size(0) && labels.scalar_type() == at::kLong),
        "softmaxCrossEntropy: labels [N] int64 or [N, K] float");
  check(labels.device() == logits.device(), "softmaxCrossEntropy: one device");
  check(divisor > 0, "softmaxCrossEntropy: divisor above 0");
  check(!classWeights.defined() || (classWeights.dim() == 1 && classWeights.size(0) == logits.size(1) &&
                                    classWeights.device() == logits.device()),
        "softmaxCrossEntropy: class weights [K] on the device of the logits");
}

void checkLabels(const int64_t* labels, int64_t rows, int64_t classes) {
  for (int64_t row = 0; row < rows; ++row) {
    if (labels[row] >= 0 && labels[row] < classes) continue;
    throw DataError(concat("label ", labels[row], " in row ", row, " of the batch: the network has ", classes,
                           " classes, so labels go from 0 to ", classes - 1, "; check the data or give --classes"));
  }
}

at::Tensor onCpu(const SoftmaxCrossEntropyArguments& given) {
  checkLabels(given.labels, given.rows, given.classes);
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

bool areShares(const at::Tensor& labels) { return labels.dim() == 2; }

/// One-hot rows [N, K]; of labels that are no class NaN.
at::Tensor sharesOf(const at::Tensor& labels, int64_t classes, at::ScalarType type) {
  const at::Tensor column = labels.unsqueeze(1);
  const at::Tensor oneHot = column.eq(at::arange(classes, labels.options())).to(type);
  return oneHot.masked_fill(column.lt(0).logical_or(column.ge(classes)), std::numeric_limits<double>::quiet_NaN());
}

/// By ATen operations in the type `wide`. With targets t and weights u of the classes: the loss is that of targets t u,
/// whose sum is not 1.
LossAndGradient byAten(const at::Tensor& logits, const at::Tensor& labels, double smoothing, double divisor,
                       const at::Tensor& classWeights, at::ScalarType wide) {
  const at::NoGradGuard noGradients;
  const at::Tensor logProbabilities = at::log_softmax(logits.to(wide), 1);
  const at::Tensor shares = areShares(labels) ? labels.to(wide) : sharesOf(labels, logits.size(1), wide);
  at::Tensor target = shares * (1.0 - smoothing) + smoothing / static_cast<double>(logits.size(1));
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
  checkShapes(logits, labels, divisor, classWeights);
  if (areShares(labels) || classWeights.defined()) {
    if (labels.is_cpu() && !areShares(labels)) {
      checkLabels(labels.contiguous().const_data_ptr<int64_t>(), labels.size(0), logits.size(1));
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
