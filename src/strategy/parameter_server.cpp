#include "strategy/parameter_server.h"

#include <ATen/ATen.h>

#include <algorithm>

#include "kernels/tensor/non_finite.h"
#include "trace/span.h"

namespace tandem {
namespace {

// Counts only what crosses between devices. With `cpu` each replica pulls all weights and pushes all gradients. On
// replicas, the owner of a variable has it already: (n - 1) / n of both cross.
StrategyTraffic trafficOf(const FlatBuffers& buffers, const VariablePlacementOptions& options) {
  const auto n = static_cast<double>(options.devices.size());
  const double remote = options.parameterDevice == onHost ? 1.0 : (n - 1) / n;
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
      states_(context.devices.size()),
      attached_(*context.monitor, static_cast<int>(context.devices.size())) {
  checkParameterDevice({context.parameterDevice, context.devices});
}

// Three barriers: shards are built from replica 0's buffers, which all must see; all must see the shards before they
// read them; and all must have pulled the masters before any of them is updated.
void ParameterServer::attach(Replica& replica) {
  ReplicaState& state = states_[replica.index];
  state.buffers = std::make_unique<const FlatBuffers>(replica.buffers);
  state.arrived = std::vector<ReplicaProgress>(replica.buffers.parameters());
  state.work.clear();
  state.nextWork = 0;
  if (replica.index == 0) {
    const VariablePlacementOptions placement{context_.parameterDevice, context_.devices};
    plan_ = placeShards(replica.buffers, placement);
    shards_.resize(plan_.size());
    traffic_ = trafficOf(replica.buffers, placement);
  }
  replica.device.synchronize(*context_.monitor);
  attached_.arriveAndWait();
  if (plan_.front().throughHost) {
    state.onHost = std::make_unique<PinnedGradients>(replica.buffers, replica.device, context_.bucketBytes);
  }
  for (size_t i = 0; i < plan_.size(); ++i) {
    if (plan_[i].builder == replica.index) {
      shards_[i] = std::make_unique<ServerShard>(plan_[i], *states_[0].buffers, context_);
    }
  }
  replica.device.synchronize(*context_.monitor);
  attached_.arriveAndWait();
  for (const auto& shard : shards_) {
    for (const Piece& piece : shard->pieces(replica.index, replica.buffers)) state.work.push_back({shard.get(), piece});
  }
  if (replica.lossScale != nullptr) scaleLoss(replica);
  pull(replica, ServerShard::Values::masters);
  replica.device.synchronize(*context_.monitor);
  attached_.arriveAndWait();
}

void ParameterServer::scaleLoss(const Replica& replica) {
  ReplicaState& state = states_[replica.index];
  for (const auto& shard : shards_) {
    if (!shard->ownedBy(replica.index)) continue;
    const ShardPlacement& plan = shard->plan();
    state.overflow = at::zeros({1}, plan.throughHost ? replica.device.hostMemory() : at::device(plan.device));
    if (plan.throughHost) state.elsewhere = std::make_unique<LossScale>(plan.device, replica.lossScale->rule());
    shard->setLossScale(replica.index, plan.throughHost ? state.elsewhere.get() : replica.lossScale);
  }
}

void ParameterServer::beginStep(Replica& replica, int64_t step) {
  pull(replica, ServerShard::Values::weights);
  for (const auto& shard : shards_) shard->beginStep(replica.index, step, 1.0 / replicas());
}

void ParameterServer::finish(Replica& replica) { pull(replica, ServerShard::Values::masters); }

void ParameterServer::pull(Replica& replica, ServerShard::Values values) {
  waitForUpdates(replica);
  for (const auto& shard : shards_) shard->copyTo(replica.buffers, values);
  if (values == ServerShard::Values::masters) replica.buffers.refreshWeights();
}

void ParameterServer::gradientReady(Replica& replica, Slice slice) {
  ReplicaState& state = states_[replica.index];
  if (state.onHost) {  // summing here would make this thread wait for copies
    state.onHost->note(slice, [&](Slice bucket, const Event& end) { announce(replica, bucket, end); });
  } else {
    announce(replica, slice, replica.device.record());
    sumArrived(replica);
  }
}

void ParameterServer::announce(const Replica& replica, Slice slice, const Event& point) {
  ReplicaState& state = states_[replica.index];
  for (const int variable : replica.buffers.parametersIn(slice)) {
    recordGradientHandoff(replica.buffers.gradientBytes(replica.buffers.slice(variable)));
    state.arrived[variable].publish(state.steps + 1, point, *context_.monitor);
  }
}

// All must have arrived before any event is read: an event may be read only after its value was published.
bool ParameterServer::gathered(const Replica& replica, const Work& work) const {
  const auto milestone = [&](const ReplicaState& state) -> const ReplicaProgress& {
    return state.arrived[work.piece.variable];
  };
  const int64_t step = states_[replica.index].steps + 1;
  for (const ReplicaState& state : states_) {
    if (!milestone(state).reached(step)) return false;
  }
  for (const ReplicaState& state : states_) {
    if (state.onHost) {
      milestone(state).synchronize(step, *context_.monitor);
    } else {
      milestone(state).follow(step, replica.device);
    }
  }
  return true;
}

bool ParameterServer::sumArrived(Replica& replica) {
  ReplicaState& mine = states_[replica.index];
  for (; mine.nextWork < mine.work.size(); ++mine.nextWork) {
    const Work& work = mine.work[mine.nextWork];
    if (!gathered(replica, work)) return false;
    // All replicas have read the flag of the previous step: their gradients of this step come after that.
    if (mine.nextWork == 0 && mine.overflow.defined()) mine.overflow.zero_();
    std::vector<at::Tensor> gradients;
    const Slice slice = work.piece.inReplica;
    for (const ReplicaState& state : states_) {
      gradients.push_back(state.onHost ? state.onHost->gradient(slice) : state.buffers->gradient(slice));
    }
    work.shard->sum(work.piece, std::move(gradients));
    if (mine.overflow.defined()) markNonFinite(work.shard->gradient(work.piece), mine.overflow);
  }
  return true;
}

// The weights of the last step are complete when every owner has published its update. The host waits for the
// publication only; the device waits for the event.
void ParameterServer::waitForUpdates(const Replica& replica) {
  const int64_t steps = states_[replica.index].steps;
  context_.monitor->waitUntil([&] {
    return std::all_of(states_.begin(), states_.end(),
                       [&](const ReplicaState& state) { return state.updated.reached(steps); });
  });
  for (const ReplicaState& state : states_) state.updated.follow(steps, replica.device);
}

void ParameterServer::endStep(Replica& replica) {
  ReplicaState& state = states_[replica.index];
  context_.monitor->waitUntil([&] { return sumArrived(replica); });
  if (state.onHost) state.onHost->reset();
  if (replica.lossScale != nullptr) joinFindings(replica);
  for (const auto& shard : shards_) shard->update(replica.index);
  if (state.elsewhere) state.elsewhere->endStep();
  state.nextWork = 0;
  ++state.steps;
  state.updated.publish(state.steps, replica.device.record(), *context_.monitor);
}

// Every owner has seen only its own sums, but all must skip the same step. So they exchange their flags first.
void ParameterServer::joinFindings(const Replica& replica) {
  ReplicaState& mine = states_[replica.index];
  const int64_t step = mine.steps + 1;
  mine.summed.publish(step, replica.device.record(), *context_.monitor);
  context_.monitor->waitUntil([&] {
    return std::all_of(states_.begin(), states_.end(),
                       [=](const ReplicaState& state) { return state.summed.reached(step); });
  });
  for (const ReplicaState& state : states_) {
    if (!state.overflow.defined()) continue;
    state.summed.follow(step, replica.device);
    replica.lossScale->join(state.overflow);
    if (mine.elsewhere) mine.elsewhere->join(state.overflow);  // on the host, by this replica's own thread
  }
}

StrategyTraffic ParameterServer::traffic() const { return traffic_; }

std::unique_ptr<Strategy> makeParameterServer(const StrategyContext& context) {
  return std::make_unique<ParameterServer>(context);
}

}  // namespace tandem
