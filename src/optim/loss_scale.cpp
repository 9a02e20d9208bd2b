#include "optim/loss_scale.h"

#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>

#include "base/error.h"
#include "base/text.h"
#include "kernels/tensor/non_finite.h"

namespace tandem {

LossScale::LossScale(at::Device device, const LossScaleRule& rule)
    : rule_(rule),
      scale_(at::full({1}, rule.initial, at::device(device).dtype(at::kFloat))),
      overflow_(at::zeros_like(scale_)),
      growthTracker_(at::zeros_like(scale_, at::kInt)),
      skipped_(at::zeros_like(scale_, at::kDouble)),
      hopeless_(at::zeros_like(scale_, at::kDouble)) {
  tandem::check(rule.minimum > 0 && rule.initial >= rule.minimum, "LossScale: a scale from the least on");
}

void LossScale::check(const at::Tensor& gradient) { markNonFinite(gradient, overflow_); }

// Flags are 0 or 1, so their maximum is their union.
void LossScale::join(const at::Tensor& mark) {
  at::maximum_out(overflow_, overflow_, mark.to(overflow_.device(), /*non_blocking=*/true));
}

ScaledLoss LossScale::forKernels() const {
  return {scale_.const_data_ptr<float>(), overflow_.const_data_ptr<float>(), skipped_.const_data_ptr<double>()};
}

// The counters are read before the scale changes: a step is hopeless if it overflowed with the least scale.
void LossScale::endStep() {
  const at::NoGradGuard noGradients;
  skipped_.add_(overflow_);
  hopeless_.add_(overflow_ * scale_.le(rule_.minimum));
  at::_amp_update_scale_(scale_, growthTracker_, overflow_, rule_.growth, rule_.backoff, rule_.growthInterval);
  scale_.clamp_min_(rule_.minimum);
  overflow_.zero_();
  if (scale_.is_cpu()) state();
}

LossScaleState LossScale::state() const {
  if (hopeless_.item<double>() > 0) {
    throw NumericError(concat("the loss scale fell to ", rule_.minimum, ", its least, and a gradient is still not ",
                              "finite, after ", skipped_.item<double>(),
                              " skipped steps; lower --lr, or use "
                              "--precision=bf16 or fp32, whose exponents reach further"));
  }
  return {scale_.item<float>(), static_cast<int64_t>(skipped_.item<double>())};
}

std::vector<std::pair<std::string, at::Tensor>> LossScale::tensors() const {
  return {{"scale", scale_}, {"growth_tracker", growthTracker_}, {"skipped", skipped_}, {"hopeless", hopeless_}};
}

}  // namespace tandem
