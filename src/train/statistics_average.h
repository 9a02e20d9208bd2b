#pragma once

#include <ATen/core/Tensor.h>

#include <vector>

#include "kernels/optimizer/weight_average.h"
#include "train/replica_set.h"

namespace tandem {

/// The average over the running statistics of one replica after the steps, by the rule of the average of weights. It
/// begins as the statistics before the first step. For the replica's thread.
class StatisticsAverage {
 public:
  /// `statistics`: those of the executor, which share their memory. `step`: how a step changes their averages.
  StatisticsAverage(StateTensors statistics, const AverageStep& step);

  /// The next call of add() is for step `step`, from 0. Enqueued on the current stream.
  void begin(int64_t step) { step_.begin(step); }
  /// Counts the statistics of a step. Enqueued on the current stream, in the same memory in all steps, so it can be
  /// captured with the step.
  void add();
  /// Exchanges statistics and average: a second call undoes the first. REQUIRES: no step goes on.
  void swap();
  /// The average, by the names of the statistics.
  StateTensors tensors() const;

 private:
  const StateTensors statistics_;
  AverageStep step_;
  std::vector<at::Tensor> live_, average_;  // in the order of the statistics
};

}  // namespace tandem
