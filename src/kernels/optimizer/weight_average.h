#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>

namespace tandem {

/// The rule of an average over the weights of the updates. It begins with the initial weights.
///
/// `every` 1 without `leads` is timm's ModelEmaV2: each update makes it d average + (1 - d) weights. With `leads` it is
/// Lookahead's slow weights (Zhang et al. 2019, arXiv:1907.08610, whose alpha is 1 - d): the weights go back to it
/// every so many updates.
struct WeightAverage {
  double decay = 0;    ///< d; 0: there is no average
  int64_t every = 1;   ///< updates from one change of it to the next
  bool leads = false;  ///< weights become the average when it has changed
  double power = 0;    ///< d is decay times (part of the updates that have been made)^power

  bool isKept() const { return decay > 0; }
  /// 1 - d for update `update`, from 0, of `total`; 0 where the average stays as it is.
  double shareAt(int64_t update, int64_t total) const;
};

/// Changes averages by a rule. What depends on the number of the update is set in begin() alone and lies on the device,
/// so add() is the same work in every update and can be captured. add() may run on several threads.
class AverageStep {
 public:
  /// `total`: of all updates, for a rule with a power. `captured`: add() may be, so the host must not choose its path.
  AverageStep(const WeightAverage& rule, int64_t total, at::Device device, bool captured);
  AverageStep(const WeightAverage& rule, int64_t total, at::Device device)
      : AverageStep(rule, total, device, !device.is_cpu()) {}

  /// The next calls of add() are those of update `update`, from 0. Enqueued on the current stream.
  void begin(int64_t update);
  /// Counts the values in their average. With WeightAverage::leads both are equal then, if this update changes them.
  void add(at::Tensor& average, at::Tensor& values) const;

 private:
  const WeightAverage rule_;
  const int64_t total_;
  double share_ = 0;
  at::Tensor onDevice_;  // [] fp32; undefined: every update takes the same path, or the host chooses it
};

}  // namespace tandem
