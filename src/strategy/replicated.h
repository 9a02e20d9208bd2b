#pragma once

#include <vector>

#include "comm/buckets.h"
#include "strategy/strategy.h"

namespace tandem {

/// Every replica holds all parameters and optimizer state. Gradients are all-reduced in buckets, each as soon as it is
/// full, mostly during backward. Every replica makes the same update. For an all-reduce whose owners update:
/// ShardedUpdate.
class Replicated final : public Strategy {
 public:
  /// REQUIRES: context.allReduce is set, bucketBytes > 0.
  explicit Replicated(const StrategyContext& context);

  void attach(Replica& replica) override;
  void beginStep(Replica& replica, int64_t step) override;
  void gradientReady(Replica& replica, Slice slice) override;
  void endStep(Replica& replica) override;
  StrategyTraffic traffic() const override { return states_[0].traffic; }
  std::string exchangeMemory() const override;

 private:
  struct ReplicaState {
    std::unique_ptr<Group> group;  // null with one replica
    std::unique_ptr<BucketTracker> tracker;
    std::vector<Ticket> tickets;
    StrategyTraffic traffic;
  };
  int replicas() const { return static_cast<int>(states_.size()); }

  const AllReduceEntry& allReduce_;
  int64_t bucketBytes_;
  std::vector<ReplicaState> states_;
};

std::unique_ptr<Strategy> makeReplicated(const StrategyContext& context);

}  // namespace tandem
