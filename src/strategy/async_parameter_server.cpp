#include <ATen/ATen.h>

#include <algorithm>
#include <iterator>
#include <set>
#include <thread>
#include <vector>

#include "base/text.h"
#include "device/replica_progress.h"
#include "strategy/async_link.h"
#include "strategy/builtin_strategies.h"
#include "strategy/replica_sums.h"
#include "strategy/server_traffic.h"
#include "trace/flight_recorder.h"

namespace tandem {
namespace {

/// A parameter server whose ranks are workers: each pulls weights, sums the gradients of its replicas, and pushes the
/// sum, which is an update by itself. The variables are shared out to servers as in ParameterServer. A rank that serves
/// some has a thread for each other rank (strategy/async_link.h); its own replica 0 pulls and pushes without messages.
///
/// A rank that serves alone has a thread for each rank that trains, and its replicas do nothing.
///
/// Within a rank the replicas are synchronous. Replica 0 asks and pushes for all; each gets and sends what it owns. A
/// gradient, and a copy of a shard, are overwritten only when all replicas have ended the step before.
class AsyncParameterServer final : public Strategy {
 public:
  /// Throws UsageError if context.parameterDevice names no device of the run.
  explicit AsyncParameterServer(const StrategyContext& context);
  ~AsyncParameterServer() override;

  void attach(Replica& replica) override;
  void beginStep(Replica& replica, int64_t step) override;
  void gradientReady(Replica& replica, Slice slice) override;
  void endStep(Replica& replica) override;
  void finish(Replica& replica) override;
  StrategyTraffic traffic() const override { return traffic_; }
  std::optional<Staleness> staleness() const override;

 private:
  struct alignas(64) ReplicaState {
    ReplicaProgress pulled, summed, ended;  // numbers of steps; pulled counts masters too
    int64_t steps = 0;                      // this and the rest is touched by its own thread only
    std::vector<AsyncMessage> messages;     // of ranges that it owns, to servers on other ranks
    size_t sent = 0;                        // of this step
    Letters letters;
  };

  int replicas() const { return static_cast<int>(states_.size()); }
  int ranks() const { return ranksOf(context_.world); }
  /// Whether this rank only serves. Then it neither pulls nor pushes.
  bool alone() const { return servesAlone(context_); }
  int rank() const { return context_.world == nullptr ? 0 : context_.world->place().rank; }
  /// Of the copies, those of what this rank serves: one after another.
  std::span<const std::unique_ptr<ServerShard>> served() const;

  void broadcastParameters(FlatBuffers& buffers);
  void startServing(const std::vector<AsyncMessage>& messages);
  /// Starts the thread that serves a rank.
  void serve(int worker, const std::vector<AsyncMessage>& messages, const std::vector<ShardPlacement>& placements);
  void run(AsyncConnection& connection, const Device& device) noexcept;
  /// Brings what is asked for from all servers into this rank's copies.
  void fetch(const Replica& replica, AsyncRequest request);
  bool progress(const Replica& replica);
  /// Pushes the sums of all replicas: by a verdict to other ranks, whole to this rank's server.
  void push(const Replica& replica);

  const StrategyContext context_;
  std::unique_ptr<RankMail> mail_;  // null: there is one rank
  std::vector<ShardPlacement> plan_;
  std::vector<std::unique_ptr<ServerShard>> copies_;  // where this rank's gradients are summed, and weights come to
  std::unique_ptr<AsyncServer> server_;               // null: this rank serves nothing
  std::set<int> otherServers_;
  std::unique_ptr<AsyncWorkerLink> link_;
  ReplicaSums sums_;
  std::vector<ReplicaState> states_;
  StrategyTraffic traffic_;
  Barrier barrier_;
  std::vector<std::unique_ptr<AsyncConnection>> connections_;  // to the workers on other ranks
  std::vector<std::thread> threads_;
};

AsyncParameterServer::AsyncParameterServer(const StrategyContext& context)
    : context_(context),
      sums_(context),
      states_(context.devices.size()),
      barrier_(*context.monitor, static_cast<int>(context.devices.size())) {
  checkParameterDevice({context.parameterDevice, context.devices});
  if (context.world != nullptr) mail_ = context.world->mail("parameter server", *context.monitor);
}

// A run that has failed does not finish.
AsyncParameterServer::~AsyncParameterServer() {
  if (mail_) mail_->close();
  if (server_) server_->close();
  for (std::thread& thread : threads_) thread.join();
}

std::span<const std::unique_ptr<ServerShard>> AsyncParameterServer::served() const {
  const auto isOwn = [this](const std::unique_ptr<ServerShard>& shard) { return shard->plan().server == rank(); };
  const auto first = std::ranges::find_if(copies_, isOwn);
  return {first, std::find_if_not(first, copies_.end(), isOwn)};
}

// As in ParameterServer::attach(): copies are built from replica 0's buffers, and all must see them.
void AsyncParameterServer::attach(Replica& replica) {
  ReplicaState& state = states_[replica.index];
  if (replica.index == 0) {
    broadcastParameters(replica.buffers);
    plan_ = placeShards(replica.buffers, {context_.parameterDevice, context_.devices, serversOf(context_)});
    copies_.resize(plan_.size());
    traffic_ = serverTraffic(replica.buffers, context_);
  }
  sums_.attach(replica);
  barrier_.arriveAndWait();
  for (size_t i = 0; i < plan_.size(); ++i) {
    if (plan_[i].builder != replica.index) continue;
    copies_[i] = std::make_unique<ServerShard>(plan_[i], sums_.buffersOf(0), context_, ServerShard::Role::copy);
  }
  barrier_.arriveAndWait();
  sums_.setPieces(replica.index, piecesOf(copies_, replica.index, replica.buffers));
  const auto messages = planAsyncMessages(copies_, replicas(), replica.buffers, context_.buckets.bytes);
  std::ranges::copy_if(messages, std::back_inserter(state.messages), [&](const AsyncMessage& message) {
    return message.replica == replica.index && message.server != rank();
  });
  if (replica.lossScale != nullptr) sums_.setOverflow(replica.index, at::zeros({1}), /*marks=*/true);
  if (replica.index == 0) startServing(messages);
  for (const auto& shard : copies_) shard->copyTo(replica.buffers, ServerShard::Values::masters);
  replica.buffers.refreshWeights();
  barrier_.arriveAndWait();
  if (alone() && replica.index == 0) copies_.clear();
}

void AsyncParameterServer::broadcastParameters(FlatBuffers& buffers) {
  constexpr int parameters = 0;
  Letters letters;
  for (int segment = 0; segment < buffers.segments(); ++segment) {
    const at::Tensor master = buffers.master(buffers.whole(segment));
    if (rank() != 0) letters.add(mail_->receive(0, parameters, master));
    for (int other = 1; rank() == 0 && other < ranks(); ++other) letters.add(mail_->send(other, parameters, master));
  }
  letters.wait();
  buffers.refreshWeights();
}

void AsyncParameterServer::startServing(const std::vector<AsyncMessage>& messages) {
  traffic_.messagesPerStep += transfersPerReplica(context_) * static_cast<double>(messages.size());
  if (mail_) link_ = std::make_unique<AsyncWorkerLink>(*mail_, copies_);
  for (const ShardPlacement& placement : plan_) {
    if (placement.server != rank()) otherServers_.insert(placement.server);
  }
  const auto own = served();
  if (own.empty()) return;
  std::vector<ShardPlacement> placements;
  for (const auto& shard : own) placements.push_back(shard->plan());
  server_ = std::make_unique<AsyncServer>(placements, sums_.buffersOf(0), context_, workersOf(context_));
  std::vector<AsyncMessage> toMe;
  for (AsyncMessage message : messages) {
    if (message.server != rank()) continue;
    message.shard -= static_cast<size_t>(own.data() - copies_.data());
    toMe.push_back(message);
  }
  for (int worker = 0; worker < workersOf(context_); ++worker) {
    if (worker != rank()) serve(worker, toMe, placements);
  }
}

void AsyncParameterServer::serve(int worker, const std::vector<AsyncMessage>& messages,
                                 const std::vector<ShardPlacement>& placements) {
  std::vector<std::unique_ptr<ServerShard>> copies;
  for (const ShardPlacement& placement : placements) {
    copies.push_back(std::make_unique<ServerShard>(placement, sums_.buffersOf(0), context_, ServerShard::Role::copy));
  }
  auto& connection = connections_.emplace_back(
      std::make_unique<AsyncConnection>(*server_, *mail_, worker, messages, std::move(copies)));
  const Device& device = *context_.devices[threads_.size() % context_.devices.size()];
  threads_.emplace_back([this, &connection = *connection, &device] { run(connection, device); });
}

void AsyncParameterServer::run(AsyncConnection& connection, const Device& device) noexcept {
  try {
    device.bindHelper();
    connection.serve();
  } catch (const std::exception& failure) {
    context_.monitor->abort(lineOf(failure));
  }
}

void AsyncParameterServer::beginStep(Replica& replica, int64_t) {
  if (alone()) return;
  ReplicaState& state = states_[replica.index];
  fetch(replica, AsyncRequest::weights);
  for (const auto& shard : copies_) shard->copyTo(replica.buffers, ServerShard::Values::weights);
  state.sent = 0;
}

void AsyncParameterServer::fetch(const Replica& replica, AsyncRequest request) {
  ReplicaState& state = states_[replica.index];
  context_.monitor->waitUntil([&] { return allReached(states_, &ReplicaState::ended, state.steps); });
  if (replica.index == 0) {
    for (const int server : otherServers_) state.letters.add(link_->ask(server, request));
  }
  for (const AsyncMessage& message : state.messages) state.letters.add(link_->fetch(message, request));
  if (replica.index == 0 && server_ != nullptr) {
    if (request == AsyncRequest::weights) {
      server_->pull(rank(), served());
    } else {
      server_->pullMasters(rank(), served());
    }
  }
  state.letters.wait();
  if (threadFlight != nullptr && state.steps > 0) threadFlight->finishCollective();
  state.pulled.publish(state.steps + 1, nullptr, *context_.monitor);
  context_.monitor->waitUntil([&] { return allReached(states_, &ReplicaState::pulled, state.steps + 1); });
}

void AsyncParameterServer::gradientReady(Replica& replica, Slice slice) {
  if (sums_.note(replica, slice)) progress(replica);
}

bool AsyncParameterServer::progress(const Replica& replica) {
  ReplicaState& mine = states_[replica.index];
  const bool summed = sums_.progress(replica);
  const size_t done = sums_.done(replica.index);
  for (; mine.sent < mine.messages.size() && mine.messages[mine.sent].pieces <= done; ++mine.sent) {
    mine.letters.add(link_->sendGradient(mine.messages[mine.sent]));
  }
  return summed;
}

// A step counts as one collective between ranks, which begins with its push, so that a rank that does not come can be
// named.
void AsyncParameterServer::endStep(Replica& replica) {
  if (alone()) return;
  ReplicaState& state = states_[replica.index];
  const int64_t step = state.steps + 1;
  context_.monitor->waitUntil([&] { return progress(replica); });
  if (threadFlight != nullptr)
    threadFlight->startCollective(static_cast<int64_t>(gradientBytes(replica.buffers)), step);
  state.summed.publish(step, nullptr, *context_.monitor);
  const bool decides = replica.index == 0;
  if (decides || replica.lossScale != nullptr) {
    context_.monitor->waitUntil([&] { return allReached(states_, &ReplicaState::summed, step); });
  }
  for (int owner = 0; replica.lossScale != nullptr && owner < replicas(); ++owner) {
    replica.lossScale->join(sums_.overflow(owner));
  }
  if (decides) push(replica);
  state.letters.wait();
  sums_.endStep(replica.index);
  state.steps = step;
  state.ended.publish(step, nullptr, *context_.monitor);
}

void AsyncParameterServer::push(const Replica& replica) {
  ReplicaState& state = states_[replica.index];
  const bool overflow = sums_.overflowed();
  const double scale = replica.lossScale == nullptr ? 1 : replica.lossScale->factor().item<float>();
  for (const int server : otherServers_) state.letters.add(link_->sendVerdict(server, scale, overflow));
  if (server_) server_->push(rank(), served(), scale, overflow);
}

// A rank ends when the others have their masters.
void AsyncParameterServer::finish(Replica& replica) {
  if (!alone()) {
    fetch(replica, AsyncRequest::masters);
    for (const auto& shard : copies_) shard->copyTo(replica.buffers, ServerShard::Values::masters);
    replica.buffers.refreshWeights();
  }
  if (replica.index != 0) return;
  for (std::thread& thread : threads_) thread.join();
  threads_.clear();
  context_.monitor->throwIfAborted();  // one may have lost its worker
}

std::optional<Staleness> AsyncParameterServer::staleness() const {
  return server_ == nullptr ? Staleness() : server_->staleness();
}

}  // namespace

std::unique_ptr<Strategy> makeAsyncServer(const StrategyContext& context) {
  return std::make_unique<AsyncParameterServer>(context);
}

}  // namespace tandem
