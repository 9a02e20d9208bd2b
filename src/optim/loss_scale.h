#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "kernels/optimizer/scaled_loss.h"

namespace tandem {

/// The constants of PyTorch's GradScaler (torch/amp/grad_scaler.py). The minimum, which it does not have, is Megatron's
/// and DeepSpeed's.
struct LossScaleRule {
  double initial = 65536, growth = 2, backoff = 0.5, minimum = 1;
  int64_t growthInterval = 2000;
};

/// The current state of a loss scale.
struct LossScaleState {
  double scale = 0;
  int64_t skipped = 0;  ///< number of skipped steps
};

/// Dynamic loss scaling (Micikevicius et al. 2018, "Mixed Precision Training") by the rule of GradScaler. The loss's
/// gradient is multiplied by a scale, so that fp16 gradients do not become subnormal; the update divides by it. If a
/// gradient of a step is infinite or NaN, the step updates nothing and the scale is multiplied by `backoff`. After
/// `growthInterval` good steps in a row it is multiplied by `growth`.
///
/// Scale and overflow flag live on the device, where the optimizer's kernels read them, so the host does not wait. Each
/// replica has its own object. Replicas that exchange gradients give it the same findings, so all skip the same steps
/// and hold the same scale. For one thread.
///
/// A skipped step leaves weights and optimizer state unchanged, and Adam does not count it. (In PyTorch too: the
/// moments then miss one gradient.) The learning-rate schedule counts it, because it is a function of the batches.
class LossScale {
 public:
  LossScale(at::Device device, const LossScaleRule& rule);

  /// [1] fp32: the factor of this step's loss gradient.
  const at::Tensor& factor() const { return scale_; }

  /// Checks a part of the step's summed gradient, [n] on the device, for overflow.
  void check(const at::Tensor& gradient);
  /// Joins an overflow flag of kernels/tensor/non_finite.h that others computed for their part, on any device.
  void join(const at::Tensor& mark);

  /// Device addresses of the scale and the overflow flag, for optimizer kernels. The scale is valid after the previous
  /// endStep(), the flag after the last check() or join() of this step. Valid while this object lives.
  ScaledLoss forKernels() const;

  /// Called after the step's updates. On a CPU throws as state() does.
  void endStep();

  /// Waits for the device. Throws NumericError if a gradient was not finite with the least scale.
  LossScaleState state() const;

  /// What a training must keep to go on: tensors by name, on the device.
  std::vector<std::pair<std::string, at::Tensor>> tensors() const;

  const LossScaleRule& rule() const { return rule_; }

 private:
  LossScaleRule rule_;
  at::Tensor scale_, overflow_;    // [1] fp32
  at::Tensor growthTracker_;       // [1] int32: steps in a row without overflow
  at::Tensor skipped_, hopeless_;  // [1] fp64: the number of skipped steps, and of those with the least scale
};

}  // namespace tandem
