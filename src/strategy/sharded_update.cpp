#include "strategy/sharded_update.h"

#include <ATen/ATen.h>

#include <algorithm>

#include "base/error.h"
#include "comm/local/local_reduce.h"
#include "kernels/tensor/non_finite.h"
#include "strategy/traffic.h"
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

}  // namespace

OwnerUpdate::OwnerUpdate(const StrategyContext& context)
    : allReduce_(*context.allReduce),
      bucketBytes_(context.bucketBytes),
      monitor_(*context.monitor),
      nodeOf_(memoryNodes(context.devices)),
      lanes_(context.devices.size()),
      barrier_(*context.monitor, static_cast<int>(context.devices.size())) {}

bool OwnerUpdate::oneNode() const {
  return std::ranges::all_of(nodeOf_, [this](int node) { return node == nodeOf_.front(); });
}

int OwnerUpdate::firstOnNodeOf(int replica) const {
  return static_cast<int>(std::ranges::find(nodeOf_, nodeOf_[replica]) - nodeOf_.begin());
}

Slice OwnerUpdate::ownedSlice(Slice bucket, int owner) const { return ownedRange(bucket, replicas(), owner); }

void OwnerUpdate::attach(Replica& replica) {
  Lane& lane = lanes_[replica.index];
  const int first = firstOnNodeOf(replica.index);
  if (first == replica.index) {
    replica.optimizer.allocateState();
    lane.buffers = std::make_unique<const FlatBuffers>(replica.buffers);
  }
  barrier_.arriveAndWait();
  if (first != replica.index) {
    replica.buffers.shareParameters(*lanes_[first].buffers);
    lane.buffers = std::make_unique<const FlatBuffers>(replica.buffers);
  } else if (replica.index != 0) {
    for (int segment = 0; segment < replica.buffers.segments(); ++segment) {
      const Slice whole = replica.buffers.whole(segment);
      replica.buffers.master(whole).copy_(lanes_[0].buffers->master(whole));
    }
    replica.buffers.refreshWeights();
  }
  lane.tracker = std::make_unique<BucketTracker>(replica.buffers, planBuckets(replica.buffers, bucketBytes_));
  lane.traffic = allReduceTraffic(allReduce_, replica.buffers, lane.tracker->buckets().size(), replicas());
  if (replica.lossScale != nullptr) lane.overflow = at::zeros({1});
  barrier_.arriveAndWait();
}

void OwnerUpdate::beginStep(Replica& replica, int64_t step) {
  Lane& lane = lanes_[replica.index];
  replica.optimizer.beginStep(step, 1.0 / replicas());
  if (lane.overflow.defined()) lane.overflow.zero_();  // all have read it: they have updated
}

void OwnerUpdate::gradientReady(Replica& replica, Slice slice) {
  Lane& lane = lanes_[replica.index];
  const int64_t before = lane.tracker->startable();
  const int64_t startable = lane.tracker->note(slice);
  for (int64_t i = before; i < startable; ++i)
    recordGradientHandoff(replica.buffers.gradientBytes(lane.tracker->buckets()[i]));
  if (startable > before) publish(lane, arrived, lane.first + startable);
  progress(replica);
}

void OwnerUpdate::endStep(Replica& replica) {
  Lane& lane = lanes_[replica.index];
  const auto buckets = static_cast<int64_t>(lane.tracker->buckets().size());
  check(lane.tracker->startable() == buckets, "every gradient was reported in the step");
  monitor_.waitUntil([&] { return progress(replica); });
  lane.tracker->reset();
  lane.first += buckets;
}

void OwnerUpdate::finish(Replica& replica) {
  for (const Slice bucket : lanes_[replica.index].tracker->buckets()) {
    copyFromOtherNodes(replica, bucket, Values::masters);
  }
  barrier_.arriveAndWait();
}

bool OwnerUpdate::progress(Replica& replica) {
  Lane& lane = lanes_[replica.index];
  if (replica.lossScale == nullptr) {
    advance(lane, arrived, updated, [&](Slice bucket) {
      sumOwned(replica, bucket);
      updateOwned(replica, bucket);
    });
  } else if (sumAndJudge(replica)) {
    advance(lane, summed, updated, [&](Slice bucket) { updateOwned(replica, bucket); });
  }
  if (oneNode()) return allHave(updated, endOf(lane));
  return advance(lane, updated, copied, [&](Slice bucket) { copyFromOtherNodes(replica, bucket, Values::weights); });
}

bool OwnerUpdate::sumAndJudge(Replica& replica) {
  Lane& lane = lanes_[replica.index];
  const bool allSummed = advance(lane, arrived, summed, [&](Slice bucket) {
    sumOwned(replica, bucket);
    markNonFinite(replica.buffers.gradient(ownedSlice(bucket, replica.index)), lane.overflow);
  });
  const bool isNew = lane.done[updated].load(std::memory_order_relaxed) == lane.first;
  if (allSummed && isNew) {
    for (const Lane& other : lanes_) replica.lossScale->join(other.overflow);
  }
  return allSummed;
}

int64_t OwnerUpdate::endOf(const Lane& lane) const {
  return lane.first + static_cast<int64_t>(lane.tracker->buckets().size());
}

template <class Work>
bool OwnerUpdate::advance(Lane& lane, Stage before, Stage stage, const Work& work) {
  const int64_t end = endOf(lane);
  int64_t next = lane.done[stage].load(std::memory_order_relaxed);
  for (; next < end && allHave(before, next + 1); ++next) {
    work(lane.tracker->buckets()[next - lane.first]);
    publish(lane, stage, next + 1);
  }
  return allHave(stage, end);
}

bool OwnerUpdate::allHave(Stage stage, int64_t buckets) const {
  return std::ranges::all_of(
      lanes_, [=](const Lane& lane) { return lane.done[stage].load(std::memory_order_acquire) >= buckets; });
}

void OwnerUpdate::publish(Lane& lane, Stage stage, int64_t buckets) {
  lane.done[stage].store(buckets, std::memory_order_release);
  monitor_.notify();
}

void OwnerUpdate::sumOwned(Replica& replica, Slice bucket) {
  const Slice owned = ownedSlice(bucket, replica.index);
  if (owned.count() == 0 || replicas() == 1) return;
  std::vector<at::Tensor> sources;
  for (const Lane& lane : lanes_) sources.push_back(lane.buffers->gradient(owned));
  sumFromPeers(replica.buffers.gradient(owned), std::move(sources));
}

void OwnerUpdate::updateOwned(Replica& replica, Slice bucket) {
  const Slice owned = ownedSlice(bucket, replica.index);
  if (owned.count() > 0) replica.optimizer.update(owned);
}

void OwnerUpdate::copyFromOtherNodes(const Replica& replica, Slice bucket, Values values) const {
  const int node = nodeOf_[replica.index];
  const auto sharers = std::ranges::count(nodeOf_, node);
  const auto rank = std::count(nodeOf_.begin(), nodeOf_.begin() + replica.index, node);
  for (int owner = 0; owner < replicas(); ++owner) {
    if (nodeOf_[owner] == node || owner % sharers != rank) continue;
    const Slice owned = ownedSlice(bucket, owner);
    const FlatBuffers& there = *lanes_[owner].buffers;
    // Sums of one: copies that autograd's version counters do not see, in the middle of its backward.
    if (values == Values::weights) {
      sumFromPeers(replica.buffers.weights(owned), {there.weights(owned)});
    } else {
      sumFromPeers(replica.buffers.master(owned), {there.master(owned)});
    }
  }
}

}  // namespace tandem
