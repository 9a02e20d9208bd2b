#pragma once

#include <ATen/core/Tensor.h>

#include <vector>

#include "train/replica_set.h"

namespace tandem {

/// The average over the running statistics of one replica after each step, in the form of timm's ModelEmaV2, which
/// averages weights alike (optim/optimizer.h): it begins as the statistics before the first step, and each step makes
/// it d average + (1 - d) statistics. For the replica's thread.
class StatisticsAverage {
 public:
  /// `statistics`: those of the executor, which share their memory. `decay`: d.
  StatisticsAverage(StateTensors statistics, double decay);

  /// Counts the statistics of a step. Enqueued on the current stream, in the same memory in all steps, so it can be
  /// captured with the step.
  void add();
  /// Exchanges statistics and average: a second call undoes the first. REQUIRES: no step goes on.
  void swap();
  /// The average, by the names of the statistics.
  StateTensors tensors() const;

 private:
  const StateTensors statistics_;
  const double decay_;
  std::vector<at::Tensor> live_, average_;  // in the order of the statistics
};

}  // namespace tandem
