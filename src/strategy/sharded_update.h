#pragma once

#include <array>
#include <atomic>
#include <vector>

#include "comm/buckets.h"
#include "strategy/strategy.h"

namespace tandem {

/// `replicated` for replicas that reach each other's memory. Every replica owns a slice of each bucket, sums its
/// gradient from all replicas and updates it, once for all. (Weight-update sharding, Xu et al. 2020; ZeRO stage 1,
/// Rajbhandari et al. 2020.) The results equal those of all-reduce `shared` to the bit.
///
/// Masters, weights and optimizer state exist once per NUMA node, in memory of the node's first replica, and its
/// replicas share them. What owners on other nodes have updated is copied, each slice by one replica of the node.
///
/// An owner updates a bucket as soon as it is complete on all replicas, mostly during backward. Then nobody reads these
/// weights any more (GradientReady). Nobody begins the next step before all buckets are updated and their gradients
/// read. With a loss scale an owner sums as early, but updates only when all have told whether a sum overflowed.
class ShardedUpdate final : public Strategy {
 public:
  /// REQUIRES: CPU devices, bucketBytes > 0.
  explicit ShardedUpdate(const StrategyContext& context);

  void attach(Replica& replica) override;
  void beginStep(Replica& replica, int64_t step) override;
  void gradientReady(Replica& replica, Slice slice) override;
  void endStep(Replica& replica) override;
  void finish(Replica& replica) override;
  StrategyTraffic traffic() const override { return states_[0].traffic; }

 private:
  /// How many buckets a replica has brought through each stage, over all steps. Who reads a count sees what was written
  /// before it.
  enum Stage { arrived, summed, updated, copied, stages };  // summed: with a loss scale only
  struct alignas(64) ReplicaState {
    std::array<std::atomic<int64_t>, stages> done{};
    /// A copy of the handles, which keeps the memory alive for others even if this replica has failed.
    std::unique_ptr<const FlatBuffers> buffers;
    at::Tensor overflow;                     // [1] fp32, with a loss scale: not 0 if a sum of this step is not finite
    std::unique_ptr<BucketTracker> tracker;  // this and the rest is touched by its own thread only
    StrategyTraffic traffic;
    int64_t first = 0;  // the number of the step's first bucket, over all steps
  };
  enum class Values { weights, masters };

  int replicas() const { return static_cast<int>(states_.size()); }
  bool oneNode() const;
  int firstOnNodeOf(int replica) const;
  Slice ownedSlice(Slice bucket, int owner) const;

  /// Does what is possible without waiting; true if the step's exchange is finished on all replicas.
  bool progress(Replica& replica);
  bool allHave(Stage stage, int64_t buckets) const;
  void publish(ReplicaState& state, Stage stage, int64_t buckets);
  /// Takes the step's buckets through `stage` one after another, as far as all replicas have brought them through
  /// `before`. True if all replicas have brought all of them through `stage`.
  template <class Work>
  bool advance(ReplicaState& state, Stage before, Stage stage, const Work& work);
  int64_t endOf(const ReplicaState& state) const;
  void sumOwned(Replica& replica, Slice bucket);
  void updateOwned(Replica& replica, Slice bucket);
  /// Sums; true if all replicas have summed all buckets and this replica's loss scale knows whether a sum overflowed.
  bool sumAndJudge(Replica& replica);
  /// Copies this replica's share of what owners on other nodes have updated.
  void copyFromOtherNodes(const Replica& replica, Slice bucket, Values values) const;

  const AllReduceEntry& allReduce_;
  int64_t bucketBytes_;
  Monitor& monitor_;
  std::vector<int> nodeOf_;
  std::vector<ReplicaState> states_;
  Barrier barrier_;
};

}  // namespace tandem
