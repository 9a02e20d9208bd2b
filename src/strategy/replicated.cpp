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
    : allReduce_(*context.allReduce), bucketBytes_(context.bucketBytes), lanes_(context.devices.size()) {
  if (replicas() == 1) return;
  auto groups = allReduce_.make({context.devices, context.monitor});
  for (int i = 0; i < replicas(); ++i) lanes_[i].group = std::move(groups[i]);
}

void Replicated::attach(Replica& replica) {
  Lane& lane = lanes_[replica.index];
  lane.tracker = std::make_unique<BucketTracker>(replica.buffers, planBuckets(replica.buffers, bucketBytes_));
  lane.tickets.clear();
  lane.traffic = allReduceTraffic(allReduce_, replica.buffers, lane.tracker->buckets().size(), replicas());
  if (!lane.group) return;
  const auto memory = [&](int64_t count, at::ScalarType type) { return lane.group->memory(count, type); };
  replica.buffers.moveGradients(memory);
  broadcastParameters(*lane.group, replica.buffers);
}

std::string Replicated::exchangeMemory() const {
  std::set<std::string> texts;
  for (const Lane& lane : lanes_) {
    if (lane.group) texts.insert(lane.group->memoryText());
  }
  return join(std::vector<std::string>(texts.begin(), texts.end()), "; ");
}

void Replicated::beginStep(Replica& replica, int64_t step) { replica.optimizer.beginStep(step, 1.0 / replicas()); }

void Replicated::gradientReady(Replica& replica, Slice slice) {
  Lane& lane = lanes_[replica.index];
  const auto startable = static_cast<size_t>(lane.tracker->note(slice));
  if (!lane.group) return;
  while (lane.tickets.size() < startable) {
    const Slice bucket = lane.tracker->buckets()[lane.tickets.size()];
    recordGradientHandoff(replica.buffers.gradientBytes(bucket));
    lane.tickets.push_back(lane.group->start(replica.buffers.gradient(bucket), Collective::sum));
  }
  lane.group->progress();
}

void Replicated::endStep(Replica& replica) {
  Lane& lane = lanes_[replica.index];
  const auto& buckets = lane.tracker->buckets();
  check(lane.tracker->startable() == static_cast<int64_t>(buckets.size()), "every gradient was reported in the step");
  for (size_t i = 0; i < buckets.size(); ++i) {
    if (lane.group) lane.group->wait(lane.tickets[i]);
    if (replica.lossScale == nullptr) {
      replica.optimizer.update(buckets[i]);
    } else {
      replica.lossScale->check(replica.buffers.gradient(buckets[i]));
    }
  }
  if (replica.lossScale != nullptr) {  // sums are the same bits everywhere, and so is what was found
    for (const Slice bucket : buckets) replica.optimizer.update(bucket);
  }
  lane.tickets.clear();
  lane.tracker->reset();
}

std::unique_ptr<Strategy> makeReplicated(const StrategyContext& context) {
  if (context.allReduce->ownersUpdate) return std::make_unique<OwnerUpdate>(context);
  return std::make_unique<Replicated>(context);
}

}  // namespace tandem
