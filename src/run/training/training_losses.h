#pragma once

#include <cstdint>
#include <vector>

#include "base/mutex.h"
#include "comm/world.h"
#include "train/replica_set.h"

namespace tandem {

/// The losses of a training's updates, each the mean over the replicas of this rank.
class TrainingLosses {
 public:
  /// `world`: of the ranks; null: there is this one. It outlives this object. `first`: updates made before. `weights`:
  /// as MeasuredRunOptions::lossWeights.
  TrainingLosses(World* world, int64_t first, std::vector<double> weights, size_t replicas);

  /// Adds the member's losses since the last call. False if one is not finite. Thread-safe.
  bool take(ReplicaSet::Member& member);

  /// Over all ranks, of the updates behind the first `begin`, to number `end`. 0 without any. Collective over ranks,
  /// called by one thread of each.
  double mean(int64_t begin, int64_t end) const;

  /// The first update whose loss is not finite; -1: there is none.
  int64_t bad() const;
  void forgetBad();
  /// Makes bad() the same on all ranks. Collective over ranks, called by one thread of each.
  void agreeOnBad();

  /// By update, from the first on.
  std::vector<double> all() const;

 private:
  World* const world_;
  const int64_t first_;
  const std::vector<double> weights_;
  std::vector<int64_t> taken_;  // by member, which writes its own: losses that were added
  mutable Mutex mutex_;
  std::vector<double> losses_ TANDEM_GUARDED_BY(mutex_);
  int64_t bad_ TANDEM_GUARDED_BY(mutex_) = -1;
};

}  // namespace tandem
