#include "strategy/parameter_server.h"

#include <ATen/ATen.h>

#include <algorithm>

#include "kernels/tensor/non_finite.h"
#include "trace/span.h"

namespace tandem {
namespace {

// Only what crosses between devices counts. The host is nobody's own device: each replica pulls all weights and pushes
// all gradients. On replicas, the owner of a variable has it at hand: (n - 1) / n of both.
StrategyTraffic trafficOf(const FlatBuffers& buffers, const PlacementOptions& options) {
  const auto n = static_cast<double>(options.devices.size());
  const double remote = options.parameterDevice == "cpu" ? 1.0 : (n - 1) / n;
  double bytes = 0;
  for (int i = 0; i < buffers.parameters(); ++i) {
    const Slice slice = buffers.slice(i);
    bytes += static_cast<double>(buffers.weights(slice).nbytes() + buffers.gradient(slice).nbytes());
  }
  return {.bytesPerStep = remote * bytes, .messagesPerStep = remote * 2.0 * buffers.parameters()};
}

}  // namespace

ParameterServer::ParameterServer(const StrategyContext& context)
    : context_(context),
      lanes_(context.devices.size()),
      attached_(*context.monitor, static_cast<int>(context.devices.size())) {
  checkParameterDevice({context.parameterDevice, context.devices});
}

void ParameterServer::attach(Replica& replica) {
  Lane& lane = lanes_[replica.index];
  lane.buffers = std::make_unique<const FlatBuffers>(replica.buffers);
  lane.arrived = std::vector<Milestone>(replica.buffers.parameters());
  lane.work.clear();
  lane.nextWork = 0;
  if (replica.index == 0) {
    const PlacementOptions placement{context_.parameterDevice, context_.devices};
    plan_ = planShards(replica.buffers, placement);
    shards_.resize(plan_.size());
    traffic_ = trafficOf(replica.buffers, placement);
  }
  replica.device.synchronize(*context_.monitor);
  attached_.arriveAndWait();
  if (plan_.front().throughHost) {
    lane.onHost = std::make_unique<HostGradients>(replica.buffers, replica.device, context_.bucketBytes);
  }
  for (size_t i = 0; i < plan_.size(); ++i) {
    if (plan_[i].builder == replica.index) {
      shards_[i] = std::make_unique<Shard>(plan_[i], *lanes_[0].buffers, context_);
    }
  }
  replica.device.synchronize(*context_.monitor);
  attached_.arriveAndWait();
  for (const auto& shard : shards_) {
    for (const Piece& piece : shard->pieces(replica.index, replica.buffers)) lane.work.push_back({shard.get(), piece});
  }
  if (replica.lossScale != nullptr) scaleLoss(replica);
  pull(replica, Shard::Values::masters);
  replica.device.synchronize(*context_.monitor);
  attached_.arriveAndWait();
}

void ParameterServer::scaleLoss(const Replica& replica) {
  Lane& lane = lanes_[replica.index];
  for (const auto& shard : shards_) {
    if (!shard->ownedBy(replica.index)) continue;
    const ShardPlan& plan = shard->plan();
    lane.overflow = at::zeros({1}, plan.throughHost ? replica.device.hostMemory() : at::device(plan.device));
    if (plan.throughHost) lane.elsewhere = std::make_unique<LossScale>(plan.device, replica.lossScale->rule());
    shard->setLossScale(replica.index, plan.throughHost ? lane.elsewhere.get() : replica.lossScale);
  }
}

void ParameterServer::beginStep(Replica& replica, int64_t step) {
  pull(replica, Shard::Values::weights);
  for (const auto& shard : shards_) shard->beginStep(replica.index, step, 1.0 / replicas());
}

void ParameterServer::finish(Replica& replica) { pull(replica, Shard::Values::masters); }

void ParameterServer::pull(Replica& replica, Shard::Values values) {
  waitForUpdates(replica);
  for (const auto& shard : shards_) shard->copyTo(replica.buffers, values);
  if (values == Shard::Values::masters) replica.buffers.refreshWeights();
}

void ParameterServer::gradientReady(Replica& replica, Slice slice) {
  Lane& lane = lanes_[replica.index];
  if (lane.onHost) {  // who would sum now would wait for copies
    lane.onHost->note(slice, [&](Slice bucket, const Event& end) { announce(replica, bucket, end); });
  } else {
    announce(replica, slice, replica.device.record());
    sumArrived(replica);
  }
}

void ParameterServer::announce(const Replica& replica, Slice slice, const Event& point) {
  Lane& lane = lanes_[replica.index];
  for (const int variable : replica.buffers.parametersIn(slice)) {
    recordGradientHandoff(replica.buffers.gradientBytes(replica.buffers.slice(variable)));
    lane.arrived[variable].publish(lane.steps + 1, point, *context_.monitor);
  }
}

bool ParameterServer::gathered(const Replica& replica, const Work& work) const {
  const auto milestone = [&](const Lane& lane) -> const Milestone& { return lane.arrived[work.piece.variable]; };
  const int64_t step = lanes_[replica.index].steps + 1;
  for (const Lane& lane : lanes_) {
    if (!milestone(lane).reached(step)) return false;
  }
  for (const Lane& lane : lanes_) {
    if (lane.onHost) {
      milestone(lane).synchronize(step, *context_.monitor);
    } else {
      milestone(lane).follow(step, replica.device);
    }
  }
  return true;
}

bool ParameterServer::sumArrived(Replica& replica) {
  Lane& mine = lanes_[replica.index];
  for (; mine.nextWork < mine.work.size(); ++mine.nextWork) {
    const Work& work = mine.work[mine.nextWork];
    if (!gathered(replica, work)) return false;
    // All have read the mark of the step before: their gradients of this one come after.
    if (mine.nextWork == 0 && mine.overflow.defined()) mine.overflow.zero_();
    std::vector<at::Tensor> gradients;
    const Slice slice = work.piece.inReplica;
    for (const Lane& lane : lanes_) {
      gradients.push_back(lane.onHost ? lane.onHost->gradient(slice) : lane.buffers->gradient(slice));
    }
    work.shard->sum(work.piece, std::move(gradients));
    if (mine.overflow.defined()) markNonFinite(work.shard->gradient(work.piece), mine.overflow);
  }
  return true;
}

void ParameterServer::waitForUpdates(const Replica& replica) {
  const int64_t steps = lanes_[replica.index].steps;
  context_.monitor->waitUntil([&] {
    return std::all_of(lanes_.begin(), lanes_.end(), [&](const Lane& lane) { return lane.updated.reached(steps); });
  });
  for (const Lane& lane : lanes_) lane.updated.follow(steps, replica.device);
}

void ParameterServer::endStep(Replica& replica) {
  Lane& lane = lanes_[replica.index];
  context_.monitor->waitUntil([&] { return sumArrived(replica); });
  if (lane.onHost) lane.onHost->reset();
  if (replica.lossScale != nullptr) joinFindings(replica);
  for (const auto& shard : shards_) shard->update(replica.index);
  if (lane.elsewhere) lane.elsewhere->endStep();
  lane.nextWork = 0;
  ++lane.steps;
  lane.updated.publish(lane.steps, replica.device.record(), *context_.monitor);
}

void ParameterServer::joinFindings(const Replica& replica) {
  Lane& mine = lanes_[replica.index];
  const int64_t step = mine.steps + 1;
  mine.summed.publish(step, replica.device.record(), *context_.monitor);
  context_.monitor->waitUntil([&] {
    return std::all_of(lanes_.begin(), lanes_.end(), [=](const Lane& lane) { return lane.summed.reached(step); });
  });
  for (const Lane& lane : lanes_) {
    if (!lane.overflow.defined()) continue;
    lane.summed.follow(step, replica.device);
    replica.lossScale->join(lane.overflow);
    if (mine.elsewhere) mine.elsewhere->join(lane.overflow);  // this thread's own mark, on the host
  }
}

StrategyTraffic ParameterServer::traffic() const { return traffic_; }

std::unique_ptr<Strategy> makeParameterServer(const StrategyContext& context) {
  return std::make_unique<ParameterServer>(context);
}

}  // namespace tandem
