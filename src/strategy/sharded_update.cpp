#include <ATen/ATen.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <vector>

#include "base/error.h"
#include "base/text.h"
#include "comm/buckets.h"
#include "comm/local/local_reduce.h"
#include "kernels/tensor/non_finite.h"
#include "strategy/builtin_strategies.h"
#include "strategy/variable_placement.h"
#include "trace/span.h"

namespace tandem {
namespace {

std::vector<int> memoryNodes(const std::vector<const Device*>& devices) {
  std::vector<int> nodes;
  for (const Device* device : devices) {
    check(device->isCpu(), "owners update slices in host memory");
    nodes.push_back(device->memoryNode());
  }
  return nodes;
}

/// `replicated` for replicas that reach each other's memory. Every replica owns a slice of each bucket, sums its
/// gradient from all replicas and updates it, once for all. (Weight-update sharding, Xu et al. 2020; ZeRO stage 1,
/// Rajbhandari et al. 2020.) The results equal those of all-reduce `shared` to the bit.
///
/// Masters, weights and optimizer state exist once per NUMA node, in memory of the node's first replica, and its
/// replicas share them. What owners on other nodes have updated is copied, each slice by one replica of the node.
///
/// An owner updates a bucket as soon as it is complete on all replicas, mostly during backward. Then nobody reads these
/// weights any more (GradientReady). Nobody begins the next step before all buckets are updated and their gradients
/// read. With a loss scale an owner sums as early, but updates only when all have told whether a sum overflowed. So it
/// does where gradients are clipped, when all have told the norm of their sums.
///
/// Where replicas of other processes take part, an owner's sum goes on to the owners of that slice there, and all of
/// them make the same update: the weights exist in each process.
class ShardedUpdate final : public Strategy {
 public:
  /// REQUIRES: CPU devices.
  explicit ShardedUpdate(const StrategyContext& context);

  void attach(Replica& replica) override;
  void beginStep(Replica& replica, int64_t step) override;
  void gradientReady(Replica& replica, Slice slice) override;
  void endStep(Replica& replica) override;
  void finish(Replica& replica) override;
  void gatherState(Replica& replica) override;
  StrategyTraffic traffic() const override { return states_[0].traffic; }

 private:
  /// How many buckets a replica has brought through each stage, over all steps. Who reads a count sees what was written
  /// before it.
  enum Stage {
    arrived,
    sent,
    summed,
    updated,
    copied,
    stages
  };  // sent: with several ranks only; summed: with these
      // or if updates must know all gradients
  struct alignas(64) ReplicaState {
    std::array<std::atomic<int64_t>, stages> done{};
    /// A copy of the handles, which keeps the memory alive for others even if this replica has failed.
    std::unique_ptr<const FlatBuffers> buffers;
    at::Tensor overflow;                     // [1] fp32, with a loss scale: not 0 if a sum of this step is not finite
    at::Tensor squares;                      // Optimizer::squares() of its sums, where gradients are clipped
    std::unique_ptr<RankGroup> between;      // the owners of the same slices in other processes; null: there are none
    std::unique_ptr<BucketTracker> tracker;  // this and the rest is touched by its own thread only
    std::vector<Ticket> tickets;             // of the step's buckets that were sent
    StrategyTraffic traffic;
    int64_t first = 0;  // the number of the step's first bucket, over all steps
  };
  enum class Values { weights, masters };

  int replicas() const { return static_cast<int>(states_.size()); }
  int ranks() const { return ranksOf(world_); }
  bool oneNode() const;
  int firstOnNodeOf(int replica) const;
  Slice ownedSlice(Slice bucket, int owner) const;
  StrategyTraffic trafficOf(const FlatBuffers& buffers, double buckets) const;

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
  /// Sums, between ranks too. True if this replica may update what is summed: if it must know all gradients, when all
  /// replicas have summed all buckets, and its loss scale and its optimizer know of them.
  bool sumAndJudge(Replica& replica);
  /// Sums between ranks; true if all replicas have summed all buckets.
  bool sumBetweenRanks(Replica& replica);
  void noteSum(Replica& replica, Slice bucket);
  /// Tells this replica what all replicas have noted.
  void joinFindings(Replica& replica);
  /// Copies this replica's share of what owners on other nodes have updated.
  void copyFromOtherNodes(const Replica& replica, Slice bucket, Values values) const;

  const AllReduceEntry& allReduce_;
  const BucketSize buckets_;
  const bool wholeParameters_;
  Monitor& monitor_;
  World* world_;
  std::vector<int> nodeOf_;
  std::vector<ReplicaState> states_;
  Barrier barrier_;
};

ShardedUpdate::ShardedUpdate(const StrategyContext& context)
    : allReduce_(*context.allReduce.rows().front()),
      buckets_(context.buckets),
      wholeParameters_(context.wholeParameters),
      monitor_(*context.monitor),
      world_(context.world),
      nodeOf_(memoryNodes(context.devices)),
      states_(context.devices.size()),
      barrier_(*context.monitor, static_cast<int>(context.devices.size())) {
  for (int i = 0; world_ != nullptr && i < replicas(); ++i) {
    states_[i].between = world_->group(concat("replica ", i), monitor_);
  }
}

bool ShardedUpdate::oneNode() const {
  return std::ranges::all_of(nodeOf_, [this](int node) { return node == nodeOf_.front(); });
}

int ShardedUpdate::firstOnNodeOf(int replica) const {
  return static_cast<int>(std::ranges::find(nodeOf_, nodeOf_[replica]) - nodeOf_.begin());
}

Slice ShardedUpdate::ownedSlice(Slice bucket, int owner) const {
  return ownedRange(*states_[owner].buffers, bucket, replicas(), owner, wholeParameters_);
}

// Half of what a replica receives are gradients, half are weights. Between ranks it sends the slice that it sums,
// around a ring.
StrategyTraffic ShardedUpdate::trafficOf(const FlatBuffers& buffers, double buckets) const {
  const double gradients = gradientBytes(buffers), rounds = 2.0 * (ranks() - 1);
  const double between = rounds / ranks() * gradients / replicas();
  double weights = 0;
  for (int segment = 0; segment < buffers.segments(); ++segment) {
    weights += static_cast<double>(buffers.weights(buffers.whole(segment)).nbytes());
  }
  return {.bytesPerStep = allReduce_.receivedBytes((gradients + weights) / 2, replicas()) + between,
          .messagesPerStep = buckets * (allReduce_.messages(replicas(), /*groups=*/1) + rounds),
          .bytesBetweenRanks = between};
}

// The first replica of each node owns the memory that its node shares. Others take it over after the first barrier;
// first replicas of other nodes copy replica 0's masters. After the second barrier all may read all.
void ShardedUpdate::attach(Replica& replica) {
  ReplicaState& state = states_[replica.index];
  const int first = firstOnNodeOf(replica.index);
  if (state.between && replica.index == 0) broadcastParameters(*state.between, replica.buffers);
  if (first == replica.index) {
    replica.optimizer.allocateState();
    state.buffers = std::make_unique<const FlatBuffers>(replica.buffers);
  }
  barrier_.arriveAndWait();
  if (first != replica.index) {
    replica.buffers.shareParameters(*states_[first].buffers);
    state.buffers = std::make_unique<const FlatBuffers>(replica.buffers);
  } else if (replica.index != 0) {
    for (int segment = 0; segment < replica.buffers.segments(); ++segment) {
      const Slice whole = replica.buffers.whole(segment);
      replica.buffers.master(whole).copy_(states_[0].buffers->master(whole));
    }
    replica.buffers.refreshWeights();
  }
  state.tracker = std::make_unique<BucketTracker>(replica.buffers, planBuckets(replica.buffers, buckets_));
  state.traffic = trafficOf(replica.buffers, static_cast<double>(state.tracker->buckets().size()));
  if (replica.lossScale != nullptr) state.overflow = at::zeros({1});
  state.squares = replica.optimizer.squares();
  barrier_.arriveAndWait();
}

void ShardedUpdate::beginStep(Replica& replica, int64_t step) {
  ReplicaState& state = states_[replica.index];
  replica.optimizer.beginStep(step, 1.0 / (replicas() * ranks()));
  if (state.overflow.defined()) state.overflow.zero_();  // all replicas have read it, because all have updated
}

void ShardedUpdate::gradientReady(Replica& replica, Slice slice) {
  ReplicaState& state = states_[replica.index];
  const int64_t before = state.tracker->startable();
  const int64_t startable = state.tracker->note(slice);
  for (int64_t i = before; i < startable; ++i)
    recordGradientHandoff(replica.buffers.gradientBytes(state.tracker->buckets()[i]));
  if (startable > before) publish(state, arrived, state.first + startable);
  progress(replica);
}

void ShardedUpdate::endStep(Replica& replica) {
  ReplicaState& state = states_[replica.index];
  const auto buckets = static_cast<int64_t>(state.tracker->buckets().size());
  check(state.tracker->startable() == buckets, "every gradient was reported in the step");
  monitor_.waitUntil([&] { return progress(replica); });
  state.tracker->reset();
  state.tickets.clear();
  state.first += buckets;
}

void ShardedUpdate::finish(Replica& replica) {
  // Only the owners' masters are current; the other nodes' copies were not read until now.
  for (const Slice bucket : states_[replica.index].tracker->buckets()) {
    copyFromOtherNodes(replica, bucket, Values::masters);
  }
  barrier_.arriveAndWait();
}

// The first replica of each node does it for all there, who share its memory.
void ShardedUpdate::gatherState(Replica& replica) {
  if (firstOnNodeOf(replica.index) != replica.index || oneNode()) return;
  for (const Slice bucket : states_[replica.index].tracker->buckets()) {
    for (int owner = 0; owner < replicas(); ++owner) {
      const Slice owned = ownedSlice(bucket, owner);
      FlatBuffers there = *states_[owner].buffers;
      for (int i = 0; nodeOf_[owner] != nodeOf_[replica.index] && i < there.states(); ++i) {
        replica.buffers.state(i, owned).copy_(there.state(i, owned));
      }
    }
  }
}

// Every stage runs through the step's buckets in order and never waits: a bucket enters a stage when all replicas have
// brought it through the stage before. The caller repeats this until all is done.
//
// Two replicas of one node, buckets 0 and 1, no loss scale; time goes down:
//   replica 0                                        replica 1
//   bucket 0 arrived                                 in backward
//   in backward                                      bucket 0 arrived; sums and updates its half of it
//   bucket 1 arrived; sums and updates half of 0     in backward
//   endStep() waits                                  bucket 1 arrived; sums and updates its half of it
//   sums and updates its half of 1                   endStep() waits
//   both buckets updated by both: the step ends      the same
// Tests (tests/strategy/strategy_test.cpp), on one node and on several: ShardedUpdate.GivesTheBitsOfAllReduceShared,
// EachStrategy.MakesTheTextbookUpdateOnEveryReplica and AStepStartsFromTheUpdateBefore; with a loss scale
// AStepThatOverflowsIsLeftOutByAllThatExchange and ASumThatOverflowsIsLeftOutToo.
bool ShardedUpdate::progress(Replica& replica) {
  ReplicaState& state = states_[replica.index];
  if (!knowsAllFirst(replica) && !state.between) {
    advance(state, arrived, updated, [&](Slice bucket) {
      sumOwned(replica, bucket);
      updateOwned(replica, bucket);
    });
  } else if (sumAndJudge(replica)) {
    advance(state, summed, updated, [&](Slice bucket) { updateOwned(replica, bucket); });
  }
  if (oneNode()) return allHave(updated, endOf(state));
  return advance(state, updated, copied, [&](Slice bucket) { copyFromOtherNodes(replica, bucket, Values::weights); });
}

// An update must know the findings of all replicas, and only once per step: while no bucket of it is updated.
bool ShardedUpdate::sumAndJudge(Replica& replica) {
  ReplicaState& state = states_[replica.index];
  const auto sumHere = [&](Slice bucket) {
    sumOwned(replica, bucket);
    noteSum(replica, bucket);
  };
  const bool allSummed = state.between ? sumBetweenRanks(replica) : advance(state, arrived, summed, sumHere);
  if (!knowsAllFirst(replica)) return true;
  const bool isNew = state.done[updated].load(std::memory_order_relaxed) == state.first;
  if (allSummed && isNew) joinFindings(replica);
  return allSummed;
}

// All replicas add the same numbers in the same order, so they clip by the same factor.
void ShardedUpdate::joinFindings(Replica& replica) {
  at::Tensor squares = at::zeros({}, at::kDouble);
  for (const ReplicaState& each : states_) {
    if (replica.lossScale != nullptr) replica.lossScale->join(each.overflow);
    if (replica.optimizer.clips()) squares = squares + each.squares;
  }
  if (replica.optimizer.clips()) replica.optimizer.clip(squares);
}

// The sums of all ranks are equal to the bit, and so are the findings. Each replica has a group of its own, whose
// operations start in the order of buckets.
bool ShardedUpdate::sumBetweenRanks(Replica& replica) {
  ReplicaState& state = states_[replica.index];
  advance(state, arrived, sent, [&](Slice bucket) {
    sumOwned(replica, bucket);
    const at::Tensor owned = replica.buffers.gradient(ownedSlice(bucket, replica.index));
    state.tickets.push_back(state.between->start(owned, Collective::sum));
  });
  const auto sentHere = state.first + std::ssize(state.tickets);
  int64_t next = state.done[summed].load(std::memory_order_relaxed);
  for (; next < sentHere && state.between->finished(state.tickets[next - state.first]); ++next) {
    noteSum(replica, state.tracker->buckets()[next - state.first]);
    publish(state, summed, next + 1);
  }
  return allHave(summed, endOf(state));
}

void ShardedUpdate::noteSum(Replica& replica, Slice bucket) {
  const Slice owned = ownedSlice(bucket, replica.index);
  if (replica.lossScale != nullptr) {
    markNonFinite(replica.buffers.gradient(owned), states_[replica.index].overflow);
  }
  if (replica.optimizer.clips() && owned.count() > 0) replica.optimizer.measure(owned);
}

int64_t ShardedUpdate::endOf(const ReplicaState& state) const {
  return state.first + static_cast<int64_t>(state.tracker->buckets().size());
}

// Only this replica's thread writes its counts, so it may read them relaxed; others' are read with acquire.
template <class Work>
bool ShardedUpdate::advance(ReplicaState& state, Stage before, Stage stage, const Work& work) {
  const int64_t end = endOf(state);
  int64_t next = state.done[stage].load(std::memory_order_relaxed);
  for (; next < end && allHave(before, next + 1); ++next) {
    work(state.tracker->buckets()[next - state.first]);
    publish(state, stage, next + 1);
  }
  return allHave(stage, end);
}

bool ShardedUpdate::allHave(Stage stage, int64_t buckets) const {
  return std::ranges::all_of(
      states_, [=](const ReplicaState& state) { return state.done[stage].load(std::memory_order_acquire) >= buckets; });
}

void ShardedUpdate::publish(ReplicaState& state, Stage stage, int64_t buckets) {
  state.done[stage].store(buckets, std::memory_order_release);
  monitor_.notify();
}

void ShardedUpdate::sumOwned(Replica& replica, Slice bucket) {
  const Slice owned = ownedSlice(bucket, replica.index);
  if (owned.count() == 0 || replicas() == 1) return;
  std::vector<at::Tensor> sources;
  for (const ReplicaState& state : states_) sources.push_back(state.buffers->gradient(owned));
  sumFromPeers(replica.buffers.gradient(owned), std::move(sources));
}

void ShardedUpdate::updateOwned(Replica& replica, Slice bucket) {
  const Slice owned = ownedSlice(bucket, replica.index);
  if (owned.count() > 0) replica.optimizer.update(owned);
}

// The replicas of a node share the copying: each takes every sharers-th owner.
void ShardedUpdate::copyFromOtherNodes(const Replica& replica, Slice bucket, Values values) const {
  const int node = nodeOf_[replica.index];
  const auto sharers = std::ranges::count(nodeOf_, node);
  const auto place = std::count(nodeOf_.begin(), nodeOf_.begin() + replica.index, node);
  for (int owner = 0; owner < replicas(); ++owner) {
    if (nodeOf_[owner] == node || owner % sharers != place) continue;
    const Slice owned = ownedSlice(bucket, owner);
    const FlatBuffers& there = *states_[owner].buffers;
    // Sums of a single source, because copy_() would raise version counters, which autograd checks during its backward.
    if (values == Values::weights) {
      sumFromPeers(replica.buffers.weights(owned), {there.weights(owned)});
    } else {
      sumFromPeers(replica.buffers.master(owned), {there.master(owned)});
    }
  }
}

}  // namespace

std::unique_ptr<Strategy> makeShardedUpdate(const StrategyContext& context) {
  return std::make_unique<ShardedUpdate>(context);
}

}  // namespace tandem
