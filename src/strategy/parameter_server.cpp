#include <ATen/ATen.h>

#include <algorithm>
#include <vector>

#include "device/replica_progress.h"
#include "strategy/builtin_strategies.h"
#include "strategy/rank_link.h"
#include "strategy/replica_sums.h"
#include "strategy/server_shard.h"
#include "strategy/server_traffic.h"

namespace tandem {
namespace {

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
///
/// Staged (tf_cnn_benchmarks, --staged_vars), on CPUs: replicas pull weights that were put aside while the step before
/// computed, hence before its update. They are one update old, but nobody waits for their way between ranks. Owners put
/// aside what they own when all replicas have pulled, and update only after that.
class ParameterServer final : public Strategy {
 public:
  /// Throws UsageError if context.parameterDevice names no device of the run.
  ParameterServer(const StrategyContext& context, bool staged);

  void attach(Replica& replica) override;
  void beginStep(Replica& replica, int64_t step) override;
  void gradientReady(Replica& replica, Slice slice) override;
  void endStep(Replica& replica) override;
  void finish(Replica& replica) override;
  void gatherState(Replica& replica) override;
  void adoptState(Replica& replica) override;
  StrategyTraffic traffic() const override;
  std::optional<Staleness> staleness() const override;

 private:
  struct alignas(64) ReplicaState {
    ReplicaProgress updated;  // the number of steps whose update is enqueued
    ReplicaProgress summed;   // the same for sums; used with a loss scale only
    ReplicaProgress pulled;   // the number of steps whose weights it has; this and the next is used if staged
    ReplicaProgress staged;   // the number of steps in which what it owns was put aside
    int64_t steps = 0;        // finished steps; this and the rest is touched by its own thread only
    bool staging = false;     // this step's putting aside has begun
    int64_t lacks = 0;        // updates that this step's weights lack, if staged
    Staleness staleness;
    std::unique_ptr<RankLink> link;  // with other ranks; null: there are none
    /// Loss scale of the host server. It sees the same overflow flags as the replica's own scale, so both always hold
    /// the same value.
    std::unique_ptr<LossScale> elsewhere;
  };

  int replicas() const { return static_cast<int>(states_.size()); }
  /// Whether this rank only serves.
  bool alone() const { return servesAlone(context_); }
  ServerShard::Role roleOf(const ShardPlacement& plan) const;
  /// The shards that this rank has: all, if it trains.
  std::vector<ShardPlacement> placed(const FlatBuffers& buffers) const;
  void scaleLoss(const Replica& replica);

  /// Does what can be done without waiting. True if what this replica owns is put aside, and summed on all ranks.
  bool progress(Replica& replica);
  bool stage(const Replica& replica);
  /// Waits until all owners have summed, and joins all overflow flags into this replica's loss scales.
  void joinFindings(const Replica& replica);
  void noteStaleness(ReplicaState& state) const;
  void update(const Replica& replica);
  void pull(Replica& replica, ServerShard::Values values);
  /// Waits until every replica has finished as many steps as this one.
  void waitForUpdates(const Replica& replica);

  const StrategyContext context_;
  const bool staged_;
  std::vector<ShardPlacement> plan_;
  std::vector<std::unique_ptr<ServerShard>> shards_;
  ReplicaSums sums_;
  std::vector<ReplicaState> states_;
  StrategyTraffic traffic_;
  Barrier barrier_;
};

ParameterServer::ParameterServer(const StrategyContext& context, bool staged)
    : context_(context),
      staged_(staged),
      sums_(context),
      states_(context.devices.size()),
      barrier_(*context.monitor, static_cast<int>(context.devices.size())) {
  checkParameterDevice({context.parameterDevice, context.devices});
  for (int i = 0; context.world != nullptr && i < replicas(); ++i) {
    states_[i].link = std::make_unique<RankLink>(context, i);
  }
}

ServerShard::Role ParameterServer::roleOf(const ShardPlacement& plan) const {
  if (context_.world != nullptr && context_.world->place().rank != plan.server) return ServerShard::Role::copy;
  return staged_ && !alone() ? ServerShard::Role::staged : ServerShard::Role::server;
}

std::vector<ShardPlacement> ParameterServer::placed(const FlatBuffers& buffers) const {
  auto plan = placeShards(buffers, {context_.parameterDevice, context_.devices, serversOf(context_)});
  if (alone()) std::erase_if(plan, [this](const auto& shard) { return roleOf(shard) == ServerShard::Role::copy; });
  return plan;
}

// Three barriers: shards are built from replica 0's buffers, which all must see; all must see the shards before they
// read them; and all must have pulled the masters before any of them is updated.
void ParameterServer::attach(Replica& replica) {
  ReplicaState& state = states_[replica.index];
  if (replica.index == 0) {
    if (state.link) state.link->broadcastParameters(replica.buffers);
    plan_ = placed(replica.buffers);
    shards_.resize(plan_.size());
    traffic_ = serverTraffic(replica.buffers, context_);
  }
  sums_.attach(replica);
  replica.device.synchronize(*context_.monitor);
  barrier_.arriveAndWait();
  if (!plan_.empty() && plan_.front().throughHost) sums_.attachOnHost(replica);
  for (size_t i = 0; i < plan_.size(); ++i) {
    if (plan_[i].builder != replica.index) continue;
    shards_[i] = std::make_unique<ServerShard>(plan_[i], sums_.buffersOf(0), context_, roleOf(plan_[i]));
  }
  replica.device.synchronize(*context_.monitor);
  barrier_.arriveAndWait();
  sums_.setPieces(replica.index, piecesOf(shards_, replica.index, replica.buffers));
  if (replica.lossScale != nullptr) scaleLoss(replica);
  if (state.link) {
    state.link->attach(sums_.pieces(replica.index), context_.buckets.bytes, sums_.overflow(replica.index));
  }
  pull(replica, ServerShard::Values::masters);
  replica.device.synchronize(*context_.monitor);
  barrier_.arriveAndWait();
}

// Between ranks servers mark the sums, and tell all.
void ParameterServer::scaleLoss(const Replica& replica) {
  ReplicaState& state = states_[replica.index];
  at::Tensor overflow = state.link ? at::zeros({1}) : at::Tensor();
  for (const auto& shard : shards_) {
    if (!shard->ownedBy(replica.index)) continue;
    const ShardPlacement& plan = shard->plan();
    overflow = at::zeros({1}, plan.throughHost ? replica.device.hostMemory() : at::device(plan.device));
    if (plan.throughHost) state.elsewhere = std::make_unique<LossScale>(plan.device, replica.lossScale->rule());
    shard->setLossScale(replica.index, plan.throughHost ? state.elsewhere.get() : replica.lossScale);
  }
  const bool marks = overflow.defined() && !state.link;
  sums_.setOverflow(replica.index, std::move(overflow), marks);
}

void ParameterServer::beginStep(Replica& replica, int64_t step) {
  ReplicaState& state = states_[replica.index];
  if (alone()) {
    waitForUpdates(replica);
  } else {
    pull(replica, ServerShard::Values::weights);
  }
  if (staged_) state.pulled.publish(state.steps + 1, nullptr, *context_.monitor);
  state.staging = false;
  for (const auto& shard : shards_) shard->beginStep(replica.index, step, 1.0 / (replicas() * workersOf(context_)));
  if (state.link) state.link->beginStep();
}

void ParameterServer::finish(Replica& replica) {
  if (const auto& link = states_[replica.index].link) {
    link->fetchMasters();
    barrier_.arriveAndWait();
  }
  pull(replica, ServerShard::Values::masters);
}

void ParameterServer::gatherState(Replica& replica) {
  if (const auto& link = states_[replica.index].link) {
    const int count = replica.optimizer.states();
    const bool keeps = isFirst(context_.world);
    for (size_t i = 0; keeps && replica.index == 0 && i < shards_.size(); ++i) shards_[i]->allocateState(count);
    barrier_.arriveAndWait();
    link->fetchStates(count, keeps);
    barrier_.arriveAndWait();
  }
  for (size_t i = 0; replica.index == 0 && i < shards_.size(); ++i) shards_[i]->stateTo(replica.buffers);
}

// The server's loss scale is that of the replica, which has what was kept.
void ParameterServer::adoptState(Replica& replica) {
  if (const auto& elsewhere = states_[replica.index].elsewhere) {
    const auto kept = replica.lossScale->tensors(), own = elsewhere->tensors();
    for (size_t i = 0; i < own.size(); ++i) own[i].second.copy_(kept[i].second);
  }
  for (size_t i = 0; replica.index == 0 && i < shards_.size(); ++i) shards_[i]->stateFrom(replica.buffers);
  barrier_.arriveAndWait();
}

void ParameterServer::pull(Replica& replica, ServerShard::Values values) {
  waitForUpdates(replica);
  for (const auto& shard : shards_) shard->copyTo(replica.buffers, values);
  if (values == ServerShard::Values::masters) replica.buffers.refreshWeights();
}

// The weights of the last step are complete when every owner has published its update, or put them aside. The host
// waits for the publication only; the device waits for the event.
void ParameterServer::waitForUpdates(const Replica& replica) {
  const int64_t steps = states_[replica.index].steps;
  context_.monitor->waitUntil([&] {
    return allReached(states_, &ReplicaState::updated, steps) &&
           (!staged_ || allReached(states_, &ReplicaState::staged, steps));
  });
  for (const ReplicaState& state : states_) state.updated.follow(steps, replica.device);
}

void ParameterServer::gradientReady(Replica& replica, Slice slice) {
  if (sums_.note(replica, slice)) progress(replica);
}

// Without a loss scale nothing else must be known for an update.
bool ParameterServer::progress(Replica& replica) {
  const auto& link = states_[replica.index].link;
  const bool staged = !staged_ || stage(replica), summed = alone() || sums_.progress(replica);
  if (!link) return staged && summed;
  const bool added = link->send(alone() ? sums_.pieces(replica.index).size() : sums_.done(replica.index));
  if (replica.lossScale == nullptr && staged) link->update();
  if (!staged_) link->fetch(/*all=*/false);
  return staged && added;
}

// What others serve is fetched into this rank's copies, from which its replicas have pulled by then.
bool ParameterServer::stage(const Replica& replica) {
  ReplicaState& mine = states_[replica.index];
  const int64_t step = mine.steps + 1;
  if (mine.staged.reached(step)) return true;
  if (!allReached(states_, &ReplicaState::pulled, step)) return false;
  if (!mine.staging) {
    for (const ShardPiece& own : sums_.pieces(replica.index)) own.shard->stage(own.piece.inShard);
    mine.staging = true;
  }
  if (mine.link && !mine.link->fetch(/*all=*/true)) return false;
  mine.staged.publish(step, nullptr, *context_.monitor);
  return true;
}

void ParameterServer::endStep(Replica& replica) {
  ReplicaState& state = states_[replica.index];
  context_.monitor->waitUntil([&] { return progress(replica); });
  if (replica.lossScale != nullptr) joinFindings(replica);
  if (staged_) noteStaleness(state);
  update(replica);
  if (state.elsewhere) state.elsewhere->endStep();
  sums_.endStep(replica.index);
  ++state.steps;
  state.updated.publish(state.steps, replica.device.record(), *context_.monitor);
}

void ParameterServer::update(const Replica& replica) {
  const auto& link = states_[replica.index].link;
  if (!link) {
    for (const auto& shard : shards_) shard->update(replica.index);
    return;
  }
  link->update();
  if (!staged_) context_.monitor->waitUntil([&] { return link->fetch(/*all=*/false); });
}

// Every owner has seen only its own sums, but all must skip the same step. So they exchange their flags first.
void ParameterServer::joinFindings(const Replica& replica) {
  ReplicaState& mine = states_[replica.index];
  const int64_t step = mine.steps + 1;
  mine.summed.publish(step, replica.device.record(), *context_.monitor);
  context_.monitor->waitUntil([&] { return allReached(states_, &ReplicaState::summed, step); });
  for (int owner = 0; owner < replicas(); ++owner) {
    const at::Tensor& overflow = sums_.overflow(owner);
    if (!overflow.defined()) continue;
    states_[owner].summed.follow(step, replica.device);
    replica.lossScale->join(overflow);
    if (mine.elsewhere) mine.elsewhere->join(overflow);  // on the host, by this replica's own thread
  }
}

// Weights of the first step are the newest, and so are those behind a step that updated nothing.
void ParameterServer::noteStaleness(ReplicaState& state) const {
  const bool skips = sums_.overflowed();
  if (!skips) state.staleness.add(state.lacks);
  state.lacks = skips ? 0 : 1;
}

StrategyTraffic ParameterServer::traffic() const {
  StrategyTraffic traffic = traffic_;
  for (const ReplicaState& state : states_) {
    if (state.link)
      traffic.messagesPerStep += transfersPerReplica(context_) * static_cast<double>(state.link->messages());
  }
  return traffic;
}

std::optional<Staleness> ParameterServer::staleness() const {
  return staged_ ? std::optional(states_[0].staleness) : std::nullopt;
}

}  // namespace

std::unique_ptr<Strategy> makeParameterServer(const StrategyContext& context) {
  return std::make_unique<ParameterServer>(context, /*staged=*/false);
}

std::unique_ptr<Strategy> makeStagedServer(const StrategyContext& context) {
  return std::make_unique<ParameterServer>(context, /*staged=*/true);
}

}  // namespace tandem
