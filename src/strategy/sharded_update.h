#pragma once

#include <array>
#include <atomic>
#include <vector>

#include "comm/buckets.h"
#include "strategy/strategy.h"

namespace tandem {

/// `replicated` where replicas reach each other's memory: every replica owns a slice of each bucket, sums its gradient
/// from all replicas and updates it, once for all. (Weight-update sharding, Xu et al. 2020; ZeRO stage 1, Rajbhandari
/// et al. 2020.) The bits are those of all-reduce `shared`.
///
/// Masters, weights and optimizer state exist once per NUMA node, in memory of its first replica, and its replicas
/// share them; what owners on other nodes have updated is copied, each slice by one replica of a node. An owner updates
/// as soon as the bucket is complete everywhere, mostly during backward: by then nobody reads these weights any more
/// (GradientReady), and nobody goes on to the next step before all are updated and their gradients read. With a loss
/// scale an owner sums so early, and updates when all have told whether a sum of theirs has overflowed.
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
  /// How many buckets a replica has brought so far, over all steps. What it wrote before counting one is seen by who
  /// reads the count.
  enum Stage { arrived, summed, updated, copied, stages };  // summed: with a loss scale only
  struct alignas(64) ReplicaState {                         // of one replica
    std::array<std::atomic<int64_t>, stages> done{};
    /// The same memory, alive while others read it even when this replica has failed.
    std::unique_ptr<const FlatBuffers> buffers;
    at::Tensor overflow;  // [1] fp32, with a loss scale: not 0 where a sum of this step is not finite
    std::unique_ptr<BucketTracker> tracker;  // the rest is touched by its own thread only
    StrategyTraffic traffic;
    int64_t first = 0;  // number of the step's first bucket
  };
  enum class Values { weights, masters };

  int replicas() const { return static_cast<int>(states_.size()); }
  bool oneNode() const;
  int firstOnNodeOf(int replica) const;
  Slice ownedSlice(Slice bucket, int owner) const;

  /// Does what can be done without waiting; true when the step's exchange is finished everywhere.
  bool progress(Replica& replica);
  bool allHave(Stage stage, int64_t buckets) const;
  void publish(ReplicaState& state, Stage stage, int64_t buckets);
  /// Takes the step's buckets through `stage`, one after another, as far as all replicas have brought them through
  /// `before`; true when all have all of them there.
  template <class Work>
  bool advance(ReplicaState& state, Stage before, Stage stage, const Work& work);
  int64_t endOf(const ReplicaState& state) const;
  void sumOwned(Replica& replica, Slice bucket);
  void updateOwned(Replica& replica, Slice bucket);
  /// Sums; true when all have summed all and the replica's loss scale knows whether a sum has overflowed.
  bool sumAndJudge(Replica& replica);
  /// Of what owners on other nodes have updated, this replica's share.
  void copyFromOtherNodes(const Replica& replica, Slice bucket, Values values) const;

  const AllReduceEntry& allReduce_;
  int64_t bucketBytes_;
  Monitor& monitor_;
  std::vector<int> nodeOf_;
  std::vector<ReplicaState> states_;
  Barrier barrier_;
};

}  // namespace tandem
