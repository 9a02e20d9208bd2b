#pragma once

#include <vector>

#include "comm/buckets.h"
#include "strategy/strategy.h"

namespace tandem {

/// Every replica holds all parameters and optimizer state; gradients are all-reduced in buckets, each as soon as it is
/// full, mostly during backward, and everybody makes the same update. (Where owners update: ShardedUpdate.)
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
  struct ReplicaState {            // of one replica, touched by its thread only
    std::unique_ptr<Group> group;  // none with one replica
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
