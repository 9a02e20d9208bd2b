#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "config/config.h"

namespace tandem {

/// Which updates end an epoch, and after which of them a training pauses. Batches are cut from the endless sequence of
/// epochs (data/loader/batch_maker.h), so an epoch ends with the update whose batch holds its last image.
class TrainingCourse {
 public:
  /// `images`: of an epoch; `batch`: of all replicas. REQUIRES: both above 0, and training.epochs too.
  TrainingCourse(const Config::Training& training, int64_t images, int64_t batch);

  int64_t steps() const { return steps_; }  ///< of the whole training
  int64_t images() const { return images_; }
  /// Passes over the images after so many updates; at most those asked for.
  double epochsAt(int64_t step) const;
  /// The updates after which so many passes are made.
  int64_t stepsAt(double epochs) const;
  double stepsPerEpoch() const { return static_cast<double>(images_) / static_cast<double>(batch_); }

  /// The least number of updates above `step` after which something is due, or images get another size; at most
  /// steps().
  int64_t nextPause(int64_t step) const;
  bool evaluatesAt(int64_t step) const { return isDue(step, evaluateEvery_); }
  bool savesAt(int64_t step) const { return isDue(step, saveEvery_); }

  /// Pixels of --train-size in the update after so many; 0 without the option.
  int64_t trainSizeAt(int64_t step) const;

 private:
  /// The least number of updates above `step` at which what happens every so many epochs does.
  int64_t nextDue(int64_t step, double every) const;
  bool isDue(int64_t step, double every) const;

  const int64_t images_, batch_;
  const double epochs_, evaluateEvery_, saveEvery_;
  const int64_t steps_;
  std::vector<std::pair<int64_t, int64_t>> sizes_;  // the updates before, and pixels
};

}  // namespace tandem
