#pragma once

#include <memory>

#include "train/replica_set.h"

namespace tandem {

/// What the replicas of a process share. Everything outlives them.
struct ReplicaShared {
  const ReplicaSetOptions& options;
  Strategy& strategy;
  BatchFeed& feed;
  OutputPlacement& outputs;
  Monitor& monitor;
  Barrier& barrier;
  const std::vector<std::unique_ptr<StatisticsExchange>>& statistics;  ///< per replica, or empty
};

/// What the executor of replica `index` is told.
ExecutorOptions executorOptions(int index, const ReplicaShared& shared);

/// Null where the loss is not scaled.
std::unique_ptr<LossScale> lossScaleFor(const ReplicaSetOptions& options, const Device& device);

/// Builds replica `index` on the calling thread and attaches it to the strategy, which is collective. REQUIRES: the
/// thread is bound to the replica's device.
std::unique_ptr<ReplicaSet::Member> makeReplica(int index, const ReplicaShared& shared);

}  // namespace tandem
