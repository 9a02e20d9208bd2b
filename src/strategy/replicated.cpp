#include <ATen/ATen.h>

#include <set>
#include <vector>

#include "base/error.h"
#include "base/text.h"
#include "comm/buckets.h"
#include "strategy/builtin_strategies.h"
#include "trace/span.h"

namespace tandem {
namespace {

/// Every replica holds all parameters and optimizer state. Gradients are all-reduced in buckets, each as soon as it is
/// full, mostly during backward. Every replica makes the same update. For an all-reduce whose owners update:
/// ShardedUpdate.
class Replicated final : public Strategy {
 public:
  /// REQUIRES: context.allReduce is set.
  explicit Replicated(const StrategyContext& context);

  void attach(Replica& replica) override;
  void beginStep(Replica& replica, int64_t step) override;
  void gradientReady(Replica& replica, Slice slice) override;
  void endStep(Replica& replica) override;
  StrategyTraffic traffic() const override { return states_[0].traffic; }
  std::string exchangeMemory() const override;
  std::string sums() const override { return states_[0].sums; }

 private:
  struct ReplicaState {
    std::unique_ptr<Group> group;  // of all ranks; null where there is one replica in all
    std::unique_ptr<BucketTracker> tracker;
    std::vector<Ticket> tickets;
    StrategyTraffic traffic;
    std::string sums;
  };
  int replicas() const { return static_cast<int>(states_.size()); }

  const StrategyContext context_;
  std::vector<ReplicaState> states_;
  double all_;  // replicas of all ranks
};

Replicated::Replicated(const StrategyContext& context)
    : context_(context), states_(context.devices.size()), all_(static_cast<double>(allReplicas(context))) {
  if (all_ == 1) return;
  auto groups = joinedGroups(context);
  for (int i = 0; i < replicas(); ++i) states_[i].group = std::move(groups[i]);
}

void Replicated::attach(Replica& replica) {
  ReplicaState& state = states_[replica.index];
  state.tracker = std::make_unique<BucketTracker>(replica.buffers, planBuckets(replica.buffers, context_.buckets));
  state.tickets.clear();
  const std::vector<int64_t> bytes = bytesOf(replica.buffers, state.tracker->buckets());
  state.traffic = {};
  for (const int64_t bucket : bytes) state.traffic += joinedTraffic(context_, Collective::sum, bucket);
  state.sums = context_.allReduce.textFor(bytes);
  if (!state.group) return;
  const auto memory = [&](int64_t count, at::ScalarType type) { return state.group->memory(count, type); };
  replica.buffers.moveGradients(memory);
  broadcastParameters(*state.group, replica.buffers);
}

std::string Replicated::exchangeMemory() const {
  std::set<std::string> texts;
  for (const ReplicaState& state : states_) {
    if (state.group) texts.insert(state.group->memoryText());
  }
  return join(std::vector<std::string>(texts.begin(), texts.end()), "; ");
}

void Replicated::beginStep(Replica& replica, int64_t step) { replica.optimizer.beginStep(step, 1 / all_); }

// Gradients fill buckets in any order, but operations start in the order of buckets, equal on all replicas.
void Replicated::gradientReady(Replica& replica, Slice slice) {
  ReplicaState& state = states_[replica.index];
  const auto startable = static_cast<size_t>(state.tracker->note(slice));
  if (!state.group) return;
  while (state.tickets.size() < startable) {
    const Slice bucket = state.tracker->buckets()[state.tickets.size()];
    recordGradientHandoff(replica.buffers.gradientBytes(bucket));
    state.tickets.push_back(state.group->start(replica.buffers.gradient(bucket), Collective::sum));
  }
  state.group->progress();
}

// Each bucket is updated while later ones are still exchanged, unless all must be known first. The sums, and so what is
// known of them, are equal to the bit on all replicas.
void Replicated::endStep(Replica& replica) {
  ReplicaState& state = states_[replica.index];
  const auto& buckets = state.tracker->buckets();
  check(state.tracker->startable() == static_cast<int64_t>(buckets.size()), "every gradient was reported in the step");
  for (size_t i = 0; i < buckets.size(); ++i) {
    if (state.group) state.group->wait(state.tickets[i]);
    if (knowsAllFirst(replica)) {
      noteGradient(replica, buckets[i]);
    } else {
      replica.optimizer.update(buckets[i]);
    }
  }
  if (knowsAllFirst(replica)) {
    clipNoted(replica);
    for (const Slice bucket : buckets) replica.optimizer.update(bucket);
  }
  state.tickets.clear();
  state.tracker->reset();
}

}  // namespace

std::unique_ptr<Strategy> makeReplicated(const StrategyContext& context) {
  if (context.allReduce.ownersUpdate()) return makeShardedUpdate(context);
  return std::make_unique<Replicated>(context);
}

}  // namespace tandem
