#pragma once

#include <cstddef>
#include <vector>

#include "kernels/optimizer/device_hyperparameters.h"
#include "kernels/optimizer/scaled_loss.h"
#include "optim/optimizer.h"

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

/// An oracle: it updates on the host, by the step's numbers.
class ReferenceOptimizer : public Optimizer {
 public:
  using Optimizer::Optimizer;

 protected:
  int64_t number() const { return number_; }  ///< of the step, from 0
  /// Factor of the gradients, clipping included. Waits for the device.
  double scale() const { return scale_ * clipFactorOnHost(); }
  PartStep stepOf(const Part& part) const { return partStep(part.rule, number_); }

 private:
  void begin(int64_t step, double gradientScale) final { number_ = step, scale_ = gradientScale; }

  int64_t number_ = 0;
  double scale_ = 1;
};

}  // namespace tandem
