#pragma once

#include <exception>
#include <functional>
#include <latch>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/mutex.h"
#include "data/loader/batch_source.h"
#include "device/captured_graph.h"
#include "device/memory_layout.h"
#include "device/monitor.h"
#include "executor/executor.h"
#include "executor/select/kernel_selection.h"
#include "graph/graph.h"
#include "measure/record/step_sample.h"
#include "strategy/strategy.h"
#include "train/loss/loss.h"

namespace tandem {

struct Pretrained;  // train/checkpoint/weight_loader.h

struct ReplicaSetOptions {
  const Graph* graph = nullptr;  ///< outlives the team; names the loss
  std::vector<Device> devices;   ///< one per replica
  const ExecutorEntry* executor = nullptr;
  const StrategyEntry* strategy = nullptr;
  const AllReduceEntry* allReduce = nullptr;  ///< also hands out the initial parameters
  std::string parameterDevice = "cpu";
  int64_t bucketBytes = 4 << 20;
  bool overlap = true;  ///< the strategy learns of gradients during backward; else behind it
  const LossPlacementEntry* lossPlacement = &lossPlacements().front();
  double labelSmoothing = 0;
  const Precision* precision = nullptr;
  KernelSelection kernels{layouts().front()};
  RecomputeEntry recompute = recomputes().front();
  OptimizerOptions optimizer;
  LossScaleRule lossScale;  ///< where the precision needs one
  uint64_t seed = 1;
  int64_t accumulate = 1;  ///< equal parts in which a replica's batch runs
  bool forwardOnly = false;
  int64_t inFlight = 2;                          ///< steps that a GPU was given and has not done
  bool blockingWaits = false;                    ///< replicas share cores
  std::shared_ptr<const Pretrained> pretrained;  ///< what replaces initial values; null: nothing
  /// What records a replica's step, to launch it as a whole; none: steps run as they are.
  std::function<std::unique_ptr<CapturedGraph>(const Device&)> recorder;
  /// The batches of replica i; called on its thread.
  std::function<std::unique_ptr<BatchSource>(int replica)> source;
};

/// The replicas of one process: builds them, each on its own thread, and runs a body on every thread.
class ReplicaSet {
 public:
  /// What a body may do with its replica, on the replica's thread.
  class Member {
   public:
    virtual ~Member() = default;
    virtual int index() const = 0;
    virtual StepSample step() = 0;             ///< one batch and one update
    virtual const Batch& batch() const = 0;    ///< of its last step
    virtual std::vector<double> losses() = 0;  ///< of this replica's batches, one per step; waits for the device
    /// Of this replica after its last step, none without loss scaling; waits for the device. Throws as
    /// LossScale::state().
    virtual std::optional<LossScaleState> lossScale() = 0;
    virtual void synchronize() = 0;  ///< with the device; throws PeerError when another replica has failed
    virtual void barrier() = 0;      ///< with all other members
    virtual void finish() = 0;       ///< after the last step: parameters are those of the last update
    virtual Executor& executor() = 0;
    virtual FlatBuffers& buffers() = 0;
  };

  explicit ReplicaSet(ReplicaSetOptions options);
  ~ReplicaSet();

  /// Runs `body` on every replica's thread and joins. The first failure in time aborts the others and is rethrown.
  void run(const std::function<void(Member&)>& body);

  StrategyTraffic traffic() const;
  std::string exchangeMemory() const;  ///< of the strategy

 private:
  /// Arrives at `left` when the replica will touch no other one's memory any more.
  void runReplica(int index, const std::function<void(Member&)>& body, std::latch& left) noexcept;
  void noteFailure(int index, std::exception_ptr failure, const std::string& text) noexcept;

  ReplicaSetOptions options_;
  std::unique_ptr<Monitor> monitor_;
  std::unique_ptr<Barrier> barrier_;
  std::unique_ptr<Strategy> strategy_;
  std::unique_ptr<BatchFeed> feed_;
  std::unique_ptr<OutputPlacement> outputs_;
  Mutex failureMutex_;
  std::exception_ptr firstFailure_ TANDEM_GUARDED_BY(failureMutex_);
};

}  // namespace tandem
