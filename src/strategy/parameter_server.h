#pragma once

#include <vector>

#include "strategy/pinned_gradients.h"
#include "strategy/replica_progress.h"
#include "strategy/server_shard.h"
#include "strategy/strategy.h"

namespace tandem {

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

std::unique_ptr<Strategy> makeParameterServer(const StrategyContext& context);

}  // namespace tandem
