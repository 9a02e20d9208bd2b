#include "strategy/async_server.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <chrono>

#include "base/text.h"
#include "trace/span.h"

namespace tandem {
namespace {

constexpr auto lookAgain = std::chrono::milliseconds(20);  // for an abort, which rings no bell here

/// Copies one kind of values of all shards.
template <class Values>
void copyAll(AsyncServer::Copies to, AsyncServer::Copies from, const Values& values) {
  for (size_t i = 0; i < to.size(); ++i) {
    for (int segment = 0; segment < to[i]->buffers().segments(); ++segment) {
      const Slice whole = to[i]->buffers().whole(segment);
      values(to[i]->buffers(), whole).copy_(values(from[i]->buffers(), whole));
    }
  }
}

}  // namespace

AsyncServer::AsyncServer(std::span<const ShardPlacement> served, const FlatBuffers& initial,
                         const StrategyContext& context, int workers)
    : monitor_(*context.monitor),
      options_(context.servers),
      replicas_(static_cast<double>(context.devices.size())),
      window_(workers, context.servers.maxStaleness) {
  for (ShardPlacement placement : served) {
    placement.owners = {0};  // whichever thread brings an update makes it
    shards_.push_back(std::make_unique<ServerShard>(std::move(placement), initial, context, ServerShard::Role::server));
  }
}

template <class Ready>
void AsyncServer::await(MutexLock& lock, int worker, const Ready& ready) {
  const Span waiting(SpanKind::wait);
  for (const Nanos begin = now(); !ready(); changed_.wait_for(lock, lookAgain)) {
    monitor_.throwIfAborted();
    if (closed_) throw PeerError("the parameter server has ended");
    if (seconds(now() - std::max(begin, changedAt_)) < options_.timeoutSeconds) continue;
    const int slowest = window_.slowest();
    throw PeerError(concat("rank ", slowest, " did not push its update of step ", window_.pushes(slowest), " within ",
                           secondsText(options_.timeoutSeconds), "; rank ", worker, ", at step ",
                           window_.pushes(worker), ", may be at most ", options_.maxStaleness,
                           " ahead (--max-staleness)"));
  }
}

void AsyncServer::noteChange() {
  changedAt_ = now();
  changed_.notify_all();
}

void AsyncServer::pull(int worker, Copies to) {
  MutexLock lock(mutex_);
  await(lock, worker, [&]() TANDEM_REQUIRES(mutex_) { return window_.mayPull(worker); });
  window_.pulled(worker);
  copyAll(to, shards_, [](const FlatBuffers& of, Slice slice) { return of.weights(slice); });
  noteChange();
}

void AsyncServer::push(int worker, Copies gradients, double lossScale, bool overflow) {
  MutexLock lock(mutex_);
  await(lock, worker, [&]() TANDEM_REQUIRES(mutex_) { return window_.mayPush(worker); });
  if (!overflow) update(gradients, 1 / (replicas_ * lossScale));
  window_.pushed(worker, !overflow);
  noteChange();
}

void AsyncServer::update(Copies gradients, double gradientScale) {
  copyAll(shards_, gradients, [](const FlatBuffers& of, Slice slice) { return of.gradient(slice); });
  for (const auto& shard : shards_) {
    shard->beginStep(0, window_.updates(), gradientScale);
    shard->update(0);
  }
}

void AsyncServer::pullMasters(int worker, Copies to) {
  MutexLock lock(mutex_);
  await(lock, worker,
        [&]() TANDEM_REQUIRES(mutex_) { return window_.pushes(window_.slowest()) >= window_.pushes(worker); });
  copyAll(to, shards_, [](const FlatBuffers& of, Slice slice) { return of.master(slice); });
}

void AsyncServer::close() {
  const MutexLock lock(mutex_);
  closed_ = true;
  changed_.notify_all();
}

bool AsyncServer::mayPull(int worker) const {
  const MutexLock lock(mutex_);
  return window_.mayPull(worker);
}

bool AsyncServer::mayPush(int worker) const {
  const MutexLock lock(mutex_);
  return window_.mayPush(worker);
}

Staleness AsyncServer::staleness() const {
  const MutexLock lock(mutex_);
  return window_.staleness();
}

}  // namespace tandem
