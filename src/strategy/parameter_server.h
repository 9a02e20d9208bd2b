#pragma once

#include <vector>

#include "strategy/pinned_gradients.h"
#include "strategy/replica_progress.h"
#include "strategy/server_shard.h"
#include "strategy/strategy.h"

namespace tandem {

/// Variables live on parameter devices (strategy/variable_placement.h); a replica pulls their weights before each step,
/// and their owners sum the gradients of all replicas and update them.
///
/// Owners are replica threads that work cooperatively: gradientReady() announces a gradient and sums what has arrived
/// everywhere, so that most sums are done when backward ends. A gradient is overwritten only after the next
/// beginStep(), which waits for all owners' updates; a shard's weights are overwritten only after every replica's
/// gradient of the step arrived, hence after its pull. With a loss scale owners update when all have told whether a sum
/// of theirs has overflowed.
///
/// With GPUs and `cpu`, a gradient is announced once its bucket's copy to host memory is enqueued. Replica 0's thread
/// is the server: in endStep() it waits for the copies, one bucket after another, sums and updates. No other thread
/// waits for a device: replicas pull by copies that are enqueued, from pinned memory. A copy to the host comes after
/// its replica's forward, hence after its pull: what the server waits for before it updates is the end of both.
class ParameterServer final : public Strategy {
 public:
  /// Throws UsageError when context.parameterDevice names no device of the run.
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
  struct alignas(64) ReplicaState {  // of one replica
    /// A copy of the handles: the same memory, alive while owners read it even when this replica has failed.
    std::unique_ptr<const FlatBuffers> buffers;
    std::unique_ptr<PinnedGradients> onHost;  // where ShardPlacement::throughHost
    std::vector<ReplicaProgress> arrived;     // per variable: steps whose gradient is complete
    ReplicaProgress updated;                  // steps
    ReplicaProgress summed;                   // steps, with a loss scale only
    at::Tensor overflow;  // [1] fp32, with a loss scale where it sums: not 0 where a sum of this step is not finite
    int64_t steps = 0;    // finished; the rest is touched by its own thread only
    std::vector<Work> work;
    size_t nextWork = 0;
    /// Of the server on the host: finds what the replica's does on its device, and so is the same.
    std::unique_ptr<LossScale> elsewhere;
  };

  int replicas() const { return static_cast<int>(states_.size()); }
  /// Tells owners of gradients that are complete at `point`.
  void announce(const Replica& replica, Slice slice, const Event& point);
  /// Sums this replica's pieces in order, as far as gradients have arrived; true when all are done.
  bool sumArrived(Replica& replica);
  bool gathered(const Replica& replica, const Work& work) const;
  void scaleLoss(const Replica& replica);
  /// What all replicas have found becomes known to the loss scales.
  void joinFindings(const Replica& replica);
  void pull(Replica& replica, ServerShard::Values values);
  /// Of all replicas' finished steps as many as this one has finished.
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
