#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>

#include "kernels/optimizer/scaled_loss.h"

namespace tandem {

/// The numbers of PyTorch's GradScaler (torch/amp/grad_scaler.py), which has no least scale; it is Megatron's and
/// DeepSpeed's.
struct LossScaleRule {
  double initial = 65536, growth = 2, backoff = 0.5, minimum = 1;
  int64_t growthInterval = 2000;
};

/// What a loss scale has come to.
struct LossScaleState {
  double scale = 0;
  int64_t skipped = 0;  ///< steps
};

/// Dynamic loss scaling (Micikevicius et al. 2018, "Mixed Precision Training"), by the rule of GradScaler: the loss's
/// gradient is multiplied by a scale, so that gradients are no subnormals in fp16, and the update divides it out. A
/// step with a gradient that is infinite or no number updates nothing and multiplies the scale by `backoff`; that many
/// steps in a row without one multiply it by `growth`.
///
/// Scale and findings live on the device, where the optimizer's kernels read them: the host does not wait. Each replica
/// has an object of its own, and replicas that exchange gradients bring it the same findings, so that all skip the same
/// steps and hold the same scale. For one thread.
///
/// A skipped step leaves weights and the optimizer's state as they were, and Adam does not count it (as PyTorch's: its
/// moments are then of one gradient fewer). The schedule of the learning rate does, being a function of the batches.
class LossScale {
 public:
  LossScale(at::Device device, const LossScaleRule& rule);

  /// [1] fp32: what this step's loss gradient is multiplied by.
  const at::Tensor& factor() const { return scale_; }

  /// A part of the step's summed gradient, [n] on the device.
  void check(const at::Tensor& gradient);
  /// A mark of kernels/tensor/non_finite.h, on any device, that others made of their part.
  void join(const at::Tensor& mark);

  /// Where it is known to updates, in every step: the scale from endStep() of the step before on, whether this one
  /// has overflowed once all of it was checked. Valid while this object lives.
  ScaledLoss forKernels() const;

  /// After the step's updates. On a CPU throws as state() does.
  void endStep();

  /// Waits for the device. Throws NumericError where a gradient was not finite with the least scale.
  LossScaleState state() const;

  const LossScaleRule& rule() const { return rule_; }

 private:
  LossScaleRule rule_;
  at::Tensor scale_, overflow_;    // [1] fp32
  at::Tensor growthTracker_;       // [1] int32: steps without overflow in a row
  at::Tensor skipped_, hopeless_;  // [1] fp64: steps, and those of them with the least scale
};

}  // namespace tandem
