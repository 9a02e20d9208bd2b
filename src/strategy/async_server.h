#pragma once

#include <condition_variable>
#include <memory>
#include <span>
#include <vector>

#include "base/clock.h"
#include "base/mutex.h"
#include "strategy/server_shard.h"
#include "strategy/stale_window.h"

namespace tandem {

/// The variables that one rank serves to workers that update them one by one. Each push is an update. A StaleWindow
/// says who must wait.
///
/// Any thread may call these methods, for each worker one at a time. Waits throw PeerError when the run is aborted,
/// when the server is closed, and when nothing has come from any worker for the timeout.
class AsyncServer {
 public:
  /// A worker's copies of the shards, in the server's order.
  using Copies = std::span<const std::unique_ptr<ServerShard>>;

  /// Copies the masters of `initial`. `served`: the placements of this rank's variables. Workers are ranks.
  AsyncServer(std::span<const ShardPlacement> served, const FlatBuffers& initial, const StrategyContext& context,
              int workers);

  /// Waits until the worker may begin its next round, and copies the weights of this moment.
  void pull(int worker, Copies to);
  /// Waits until its update may be made, and makes it. `lossScale`: what the gradients are multiplied by. `overflow`:
  /// they are no numbers, so nothing is updated.
  void push(int worker, Copies gradients, double lossScale, bool overflow);
  /// Waits until all workers have pushed as often as this one, and copies the masters.
  void pullMasters(int worker, Copies to);
  void close();

  bool mayPull(int worker) const;
  bool mayPush(int worker) const;
  Staleness staleness() const;

 private:
  /// Waits with the lock of `mutex_` until `ready()`.
  template <class Ready>
  void await(MutexLock& lock, int worker, const Ready& ready) TANDEM_REQUIRES(mutex_);
  void noteChange() TANDEM_REQUIRES(mutex_);
  void update(Copies gradients, double gradientScale) TANDEM_REQUIRES(mutex_);

  Monitor& monitor_;
  const ServerOptions options_;
  const double replicas_;  // of a worker
  mutable Mutex mutex_;
  std::condition_variable_any changed_;
  Nanos changedAt_ TANDEM_GUARDED_BY(mutex_) = now();
  bool closed_ TANDEM_GUARDED_BY(mutex_) = false;
  std::vector<std::unique_ptr<ServerShard>> shards_ TANDEM_GUARDED_BY(mutex_);
  StaleWindow window_ TANDEM_GUARDED_BY(mutex_);
};

}  // namespace tandem
