#pragma once

#include <optional>

#include "kernels/optimizer/device_hyperparameters.h"
#include "kernels/optimizer/scaled_loss.h"

namespace tandem {

/// The hyperparameters of a step on the device, for parameters with weight decay and, if there are some, for those
/// without.
template <class Step>
class HyperparametersOfParts {
 public:
  HyperparametersOfParts(at::Device device, bool someUndecayed) : decayed_(device) {
    if (someUndecayed) undecayed_.emplace(device);
  }

  /// Enqueued, as DeviceHyperparameters::set(). `stepOf(decays)` returns the step without what lies on the device:
  /// `scaled`, and the factor by which gradients are clipped.
  template <class StepOf>
  void set(const ScaledLoss& scaled, const float* clip, const StepOf& stepOf) {
    const auto whole = [&](bool decays) {
      Step step = stepOf(decays);
      step.scaled = scaled, step.clip = clip;
      return step;
    };
    decayed_.set(whole(true));
    if (undecayed_) undecayed_->set(whole(false));
  }

  /// REQUIRES: `decays`, or there are parameters without.
  const DeviceHyperparameters<Step>& of(bool decays) const { return decays ? decayed_ : undecayed_.value(); }

 private:
  DeviceHyperparameters<Step> decayed_;
  std::optional<DeviceHyperparameters<Step>> undecayed_;
};

}  // namespace tandem
