#include <ATen/ATen.h>

#include <algorithm>
#include <vector>

#include "device/replica_progress.h"
#include "kernels/tensor/non_finite.h"
#include "strategy/builtin_strategies.h"
#include "strategy/pinned_gradients.h"
#include "strategy/server_shard.h"
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

/// Variables live on parameter devices (strategy/variable_placement.h). A replica pulls their weights before each step;
/// their owners sum the gradients of all replicas and update them.
///
/// Owners are replica threads that work cooperatively. gradientReady() announces a gradient and sums what has arrived
/// from all replicas, so most sums are done when backward ends. Two rules keep memory safe. A gradient is overwritten
/// only after the next beginStep(), which waits for the updates of all owners. A shard's weights are overwritten only
/// after every replica's gradient of the step has arrived, hence after its pull. With a loss scale an owner updates
/// when all owners have told whether one of their sums overflowed.
///
/// With GPUs and `cpu`, a gradient is announced once its bucket's copy to host memory is enqueued. Replica 0's thread
/// is the server: in endStep() it waits for the copies, bucket after bucket, sums and updates. No other thread waits
/// for a device: replicas pull by enqueued copies from pinned memory. A copy to the host follows its replica's forward,
/// hence its pull; so the server waits for both before it updates.
class ParameterServer final : public Strategy {
 public:
  /// Throws UsageError if context.parameterDevice names no device of the run.
  explicit ParameterServer(const StrategyContext& context);

  void attach(Replica& replica) override;
  void beginStep(Replica& replica, int64_t step) override;
  void gradientReady(Replica& replica, Slice slice) override;
  void endStep(Replica& replica) override;
  void finish(Replica& replica) override;
  StrategyTraffic traffic() const override;

 private:
  struct Work {
    ServerShard* shard;
    Piece piece;
  };
  struct alignas(64) ReplicaState {
    /// A copy of the handles to the same memory. It keeps the memory alive for owners even if this replica has failed.
    std::unique_ptr<const FlatBuffers> buffers;
    std::unique_ptr<PinnedGradients> onHost;  // only with ShardPlacement::throughHost
    std::vector<ReplicaProgress> arrived;     // per variable: the number of steps whose gradient is complete
    ReplicaProgress updated;                  // the number of steps whose update is enqueued
    ReplicaProgress summed;                   // the same for sums; used with a loss scale only
    at::Tensor
        overflow;  // [1] fp32, with a loss scale, on the device that sums: not 0 if a sum of this step is not finite
    int64_t steps = 0;  // finished steps; this and the rest is touched by its own thread only
    std::vector<Work> work;
    size_t nextWork = 0;
    /// Loss scale of the host server. It sees the same overflow flags as the replica's own scale, so both always hold
    /// the same value.
    std::unique_ptr<LossScale> elsewhere;
  };

  int replicas() const { return static_cast<int>(states_.size()); }
  /// Tells owners of gradients that are complete when `point` has happened.
  void announce(const Replica& replica, Slice slice, const Event& point);
  /// Sums this replica's pieces in order, as far as gradients have arrived; true if all are done.
  bool sumArrived(Replica& replica);
  bool gathered(const Replica& replica, const Work& work) const;
  void scaleLoss(const Replica& replica);
  /// Waits until all owners have summed, and joins all overflow flags into this replica's loss scales.
  void joinFindings(const Replica& replica);
  void pull(Replica& replica, ServerShard::Values values);
  /// Waits until every replica has finished as many steps as this one.
  void waitForUpdates(const Replica& replica);

  StrategyContext context_;
  std::vector<ShardPlacement> plan_;
  std::vector<std::unique_ptr<ServerShard>> shards_;
  std::vector<ReplicaState> states_;
  StrategyTraffic traffic_;
  Barrier attached_;
};

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
    state.onHost = std::make_unique<PinnedGradients>(replica.buffers, replica.device, context_.buckets);
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

}  // namespace

std::unique_ptr<Strategy> makeParameterServer(const StrategyContext& context) {
  return std::make_unique<ParameterServer>(context);
}

}  // namespace tandem
