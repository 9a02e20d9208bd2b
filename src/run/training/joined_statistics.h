#pragma once

#include <ATen/core/Tensor.h>

#include <vector>

#include "comm/world.h"
#include "train/replica_set.h"

namespace tandem {

/// Running statistics of batch-norm as the mean over all replicas of all ranks, so that every replica evaluates the
/// same network. Each replica keeps its own for training, as nothing of an evaluation may change what is trained. (The
/// mean is what timm's --dist-bn=reduce computes.) With --ema they are the replicas' averages over the steps; their
/// mean is the average over the steps of the means.
class JoinedStatistics {
 public:
  /// `world`: of the ranks; null: there is this one. It outlives this object.
  JoinedStatistics(World* world, size_t replicas) : world_(world), live_(replicas), own_(replicas) {}

  /// The replicas' statistics become their mean. Collective, on each member's thread.
  void join(ReplicaSet::Member& member);
  /// They become what they were. Collective, after join().
  void restore(ReplicaSet::Member& member);

 private:
  /// Of one replica, all statistics behind one another, in fp32 on the host.
  static at::Tensor flat(const StateTensors& statistics);
  static void write(const at::Tensor& flat, const StateTensors& statistics);
  /// The mean over the replicas of all ranks.
  at::Tensor mean() const;

  World* const world_;
  std::vector<StateTensors> live_;  // by replica; each writes its own before a barrier
  std::vector<at::Tensor> own_;     // likewise
  at::Tensor mean_;                 // written by member 0
};

}  // namespace tandem
