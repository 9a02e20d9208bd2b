#include "strategy/replicated.h"

#include <ATen/ATen.h>

#include <set>

#include "base/error.h"
#include "base/text.h"
#include "strategy/initial_parameters.h"
#include "strategy/sharded_update.h"
#include "strategy/traffic.h"
#include "trace/span.h"

namespace tandem {

Replicated::Replicated(const StrategyContext& context)
    : allReduce_(*context.allReduce), bucketBytes_(context.bucketBytes), states_(context.devices.size()) {
  if (replicas() == 1) return;
  auto groups = allReduce_.make({context.devices, context.monitor});
  for (int i = 0; i < replicas(); ++i) states_[i].group = std::move(groups[i]);
}

void Replicated::attach(Replica& replica) {
  ReplicaState& state = states_[replica.index];
  state.tracker = std::make_unique<BucketTracker>(replica.buffers, planBuckets(replica.buffers, bucketBytes_));
  state.tickets.clear();
  state.traffic = allReduceTraffic(allReduce_, replica.buffers, state.tracker->buckets().size(), replicas());
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

void Replicated::beginStep(Replica& replica, int64_t step) { replica.optimizer.beginStep(step, 1.0 / replicas()); }

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

// Each bucket is updated while later ones are still exchanged. With a loss scale all must be checked first.
void Replicated::endStep(Replica& replica) {
  ReplicaState& state = states_[replica.index];
  const auto& buckets = state.tracker->buckets();
  check(state.tracker->startable() == static_cast<int64_t>(buckets.size()), "every gradient was reported in the step");
  for (size_t i = 0; i < buckets.size(); ++i) {
    if (state.group) state.group->wait(state.tickets[i]);
    if (replica.lossScale == nullptr) {
      replica.optimizer.update(buckets[i]);
    } else {
      replica.lossScale->check(replica.buffers.gradient(buckets[i]));
    }
  }
  if (replica.lossScale != nullptr) {  // the sums, and so the findings, are equal to the bit on all replicas
    for (const Slice bucket : buckets) replica.optimizer.update(bucket);
  }
  state.tickets.clear();
  state.tracker->reset();
}

std::unique_ptr<Strategy> makeReplicated(const StrategyContext& context) {
  if (context.allReduce->ownersUpdate) return std::make_unique<ShardedUpdate>(context);
  return std::make_unique<Replicated>(context);
}

}  // namespace tandem
