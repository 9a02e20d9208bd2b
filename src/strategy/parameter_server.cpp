#include <ATen/ATen.h>

#include <algorithm>
#include <numeric>
#include <vector>

#include "device/replica_progress.h"
#include "kernels/tensor/non_finite.h"
#include "strategy/builtin_strategies.h"
#include "strategy/pinned_gradients.h"
#include "strategy/rank_link.h"
#include "strategy/server_shard.h"
#include "trace/span.h"

namespace tandem {
namespace {

// Counts only what crosses between devices, and between ranks. With `cpu` each replica pulls all weights and pushes all
// gradients. On replicas, the owner of a variable has it already: (n - 1) / n of both cross. Between ranks all but the
// server of a variable send its gradient and get its weights.
StrategyTraffic trafficOf(const FlatBuffers& buffers, const VariablePlacementOptions& options, int ranks) {
  const auto n = static_cast<double>(options.devices.size());
  const double remote = options.parameterDevice == onHost ? 1.0 : (n - 1) / n;
  double bytes = 0;
  for (int i = 0; i < buffers.parameters(); ++i) {
    const Slice slice = buffers.slice(i);
    bytes += static_cast<double>(buffers.weights(slice).nbytes() + buffers.gradient(slice).nbytes());
  }
  const double between = (ranks - 1) / (ranks * n) * bytes;
  return {.bytesPerStep = remote * bytes + between,
          .messagesPerStep = remote * 2.0 * buffers.parameters(),
          .bytesBetweenRanks = between};
}

/// The ranks that update variables.
std::vector<int> serversOf(const StrategyContext& context) {
  const int64_t ranks = context.world == nullptr ? 1 : context.world->place().size;
  std::vector<int> servers(static_cast<size_t>(context.servers.ranks == 0 ? ranks : context.servers.ranks));
  std::iota(servers.begin(), servers.end(), 0);
  return servers;
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
///
/// Of several ranks, on CPUs, each serves a part of the variables and has copies of the others. An owner's sum goes on
/// to the owner of the same range on the rank that serves it, which adds the ranks' sums and updates, each message as
/// soon as all have sent it. Then the weights go to the copies (strategy/rank_link.h), from which replicas pull them.
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
    std::vector<ShardPiece> work;
    size_t nextWork = 0;
    std::unique_ptr<RankLink> link;  // with other ranks; null: there are none
    /// Loss scale of the host server. It sees the same overflow flags as the replica's own scale, so both always hold
    /// the same value.
    std::unique_ptr<LossScale> elsewhere;
  };

  int replicas() const { return static_cast<int>(states_.size()); }
  int ranks() const { return context_.world == nullptr ? 1 : context_.world->place().size; }
  /// Does what can be done without waiting. True if the sums of all ranks are complete, those that this replica makes.
  bool progress(Replica& replica);
  /// Tells owners of gradients that are complete when `point` has happened.
  void announce(const Replica& replica, Slice slice, const Event& point);
  /// Sums this replica's pieces in order, as far as gradients have arrived; true if all are done.
  bool sumArrived(Replica& replica);
  bool gathered(const Replica& replica, const ShardPiece& work) const;
  std::vector<ShardPiece> workOf(const Replica& replica) const;
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
  Barrier barrier_;
};

ParameterServer::ParameterServer(const StrategyContext& context)
    : context_(context),
      states_(context.devices.size()),
      barrier_(*context.monitor, static_cast<int>(context.devices.size())) {
  checkParameterDevice({context.parameterDevice, context.devices});
  for (int i = 0; context.world != nullptr && i < replicas(); ++i) {
    states_[i].link = std::make_unique<RankLink>(*context.world, *context.monitor, i);
  }
}

// Three barriers: shards are built from replica 0's buffers, which all must see; all must see the shards before they
// read them; and all must have pulled the masters before any of them is updated.
void ParameterServer::attach(Replica& replica) {
  ReplicaState& state = states_[replica.index];
  state.buffers = std::make_unique<const FlatBuffers>(replica.buffers);
  state.arrived = std::vector<ReplicaProgress>(replica.buffers.parameters());
  state.nextWork = 0;
  if (replica.index == 0) {
    if (state.link) state.link->broadcastParameters(replica.buffers);
    const VariablePlacementOptions placement{context_.parameterDevice, context_.devices, serversOf(context_)};
    plan_ = placeShards(replica.buffers, placement);
    shards_.resize(plan_.size());
    traffic_ = trafficOf(replica.buffers, placement, ranks());
  }
  replica.device.synchronize(*context_.monitor);
  barrier_.arriveAndWait();
  if (plan_.front().throughHost) {
    state.onHost = std::make_unique<PinnedGradients>(replica.buffers, replica.device, context_.buckets);
  }
  for (size_t i = 0; i < plan_.size(); ++i) {
    if (plan_[i].builder == replica.index) {
      shards_[i] = std::make_unique<ServerShard>(plan_[i], *states_[0].buffers, context_);
    }
  }
  replica.device.synchronize(*context_.monitor);
  barrier_.arriveAndWait();
  state.work = workOf(replica);
  if (replica.lossScale != nullptr) scaleLoss(replica);
  if (state.link) state.link->attach(state.work, context_.buckets.bytes, state.overflow);
  pull(replica, ServerShard::Values::masters);
  replica.device.synchronize(*context_.monitor);
  barrier_.arriveAndWait();
}

// In the order in which backward makes gradients, whichever shard they are of.
std::vector<ShardPiece> ParameterServer::workOf(const Replica& replica) const {
  std::vector<ShardPiece> work;
  for (const auto& shard : shards_) {
    for (const Piece& piece : shard->pieces(replica.index, replica.buffers)) work.push_back({shard.get(), piece});
  }
  std::ranges::stable_sort(work, {}, [](const ShardPiece& each) { return each.piece.variable; });
  return work;
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
  for (const auto& shard : shards_) shard->beginStep(replica.index, step, 1.0 / (replicas() * ranks()));
  if (const auto& link = states_[replica.index].link) link->beginStep();
}

void ParameterServer::finish(Replica& replica) {
  if (const auto& link = states_[replica.index].link) {
    link->fetchMasters();
    barrier_.arriveAndWait();
  }
  pull(replica, ServerShard::Values::masters);
}

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
    progress(replica);
  }
}

// Without a loss scale nothing else must be known for an update.
bool ParameterServer::progress(Replica& replica) {
  const ReplicaState& mine = states_[replica.index];
  const bool summed = sumArrived(replica);
  if (!mine.link) return summed;
  const bool added = mine.link->send(mine.nextWork);
  if (replica.lossScale == nullptr) mine.link->receive();
  return added;
}

void ParameterServer::announce(const Replica& replica, Slice slice, const Event& point) {
  ReplicaState& state = states_[replica.index];
  for (const int variable : replica.buffers.parametersIn(slice)) {
    recordGradientHandoff(replica.buffers.gradientBytes(replica.buffers.slice(variable)));
    state.arrived[variable].publish(state.steps + 1, point, *context_.monitor);
  }
}

// All must have arrived before any event is read: an event may be read only after its value was published.
bool ParameterServer::gathered(const Replica& replica, const ShardPiece& work) const {
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
    const ShardPiece& work = mine.work[mine.nextWork];
    if (!gathered(replica, work)) return false;
    // All replicas have read the flag of the previous step: their gradients of this step come after that.
    if (mine.nextWork == 0 && mine.overflow.defined()) mine.overflow.zero_();
    std::vector<at::Tensor> gradients;
    const Slice slice = work.piece.inReplica;
    for (const ReplicaState& state : states_) {
      gradients.push_back(state.onHost ? state.onHost->gradient(slice) : state.buffers->gradient(slice));
    }
    work.shard->sum(work.piece, std::move(gradients));
    if (mine.overflow.defined() && !mine.link) markNonFinite(work.shard->gradient(work.piece), mine.overflow);
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
  context_.monitor->waitUntil([&] { return progress(replica); });
  if (state.onHost) state.onHost->reset();
  if (replica.lossScale != nullptr) joinFindings(replica);
  if (state.link) {
    context_.monitor->waitUntil([&] { return state.link->receive(); });
  } else {
    for (const auto& shard : shards_) shard->update(replica.index);
  }
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

StrategyTraffic ParameterServer::traffic() const {
  StrategyTraffic traffic = traffic_;
  const double transfers = 2.0 * (ranks() - 1) / (ranks() * replicas());  // of a message, per replica
  for (const ReplicaState& state : states_) {
    if (state.link) traffic.messagesPerStep += transfers * static_cast<double>(state.link->messages());
  }
  return traffic;
}

}  // namespace

std::unique_ptr<Strategy> makeParameterServer(const StrategyContext& context) {
  return std::make_unique<ParameterServer>(context);
}

}  // namespace tandem
