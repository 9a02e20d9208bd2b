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

/// What a replica that trains and one that only serves have alike.
class ReplicaBase : public ReplicaSet::Member {
 public:
  int index() const final { return replica_.index; }
  void synchronize() final { device_.synchronize(shared_.monitor); }
  void barrier() final { shared_.barrier.arriveAndWait(); }
  void finish() final { shared_.strategy.finish(replica_); }
  FlatBuffers& buffers() final { return buffers_; }
  const Device& device() const final { return device_; }
  void settle() final { shared_.strategy.settle(replica_); }
  void gatherState() final { shared_.strategy.gatherState(replica_); }
  void adoptState() final { shared_.strategy.adoptState(replica_); }

 protected:
  ReplicaBase(int index, const ReplicaShared& shared);

  ReplicaShared shared_;
  const Device& device_;
  FlatBuffers buffers_;
  std::unique_ptr<Optimizer> optimizer_;
  std::unique_ptr<LossScale> lossScale_;  // null without loss scaling
  Replica replica_;
};

/// Builds replica `index` on the calling thread and attaches it to the strategy, which is collective. REQUIRES: the
/// thread is bound to the replica's device.
std::unique_ptr<ReplicaSet::Member> makeReplica(int index, const ReplicaShared& shared);

}  // namespace tandem
