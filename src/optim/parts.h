#pragma once

#include <cstddef>
#include <vector>

#include "kernels/optimizer/device_hyperparameters.h"
#include "kernels/optimizer/scaled_loss.h"

namespace tandem {

/// The hyperparameters of a step on the device, for the parameters of each rule (Optimizer::partRules()).
template <class Step>
class HyperparametersOfParts {
 public:
  HyperparametersOfParts(at::Device device, size_t rules) {
    for (size_t rule = 0; rule < rules; ++rule) ofRules_.emplace_back(device);
  }

  /// Enqueued, as DeviceHyperparameters::set(). `stepOf(rule)` returns the step without what lies on the device:
  /// `scaled`, and the factor by which gradients are clipped.
  template <class StepOf>
  void set(const ScaledLoss& scaled, const float* clip, const StepOf& stepOf) {
    for (size_t rule = 0; rule < ofRules_.size(); ++rule) {
      Step step = stepOf(rule);
      step.scaled = scaled, step.clip = clip;
      ofRules_[rule].set(step);
    }
  }

  const DeviceHyperparameters<Step>& of(size_t rule) const { return ofRules_.at(rule); }

 private:
  std::vector<DeviceHyperparameters<Step>> ofRules_;
};

}  // namespace tandem
