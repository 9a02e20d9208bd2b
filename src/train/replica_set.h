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
#include "train/whitening.h"

namespace tandem {

struct Pretrained;  // train/checkpoint/weight_loader.h

/// Makes the batch source of a replica. Called on the replica's thread, if its feed needs a source. It outlives the
/// source, which may use what it holds.
using BatchSourceMaker = std::function<std::unique_ptr<BatchSource>(int replica)>;

struct ReplicaSetOptions {
  const Graph* graph = nullptr;  ///< outlives the replicas; names the loss
  std::vector<Device> devices;   ///< one per replica
  const ExecutorEntry* executor = nullptr;
  const StrategyEntry* strategy = nullptr;
  AllReduceBySize allReduce;  ///< also broadcasts the initial parameters
  World* world = nullptr;     ///< of the run's processes; null: there is this one
  std::string parameterDevice = "cpu";
  ServerOptions servers;
  LocalSgdOptions localSgd;
  CompressionOptions compression;
  BucketSize buckets;
  bool overlap = true;  ///< whether the strategy gets gradients during backward; else after it
  const LossPlacementEntry* lossPlacement = &lossPlacements().front();
  double labelSmoothing = 0;
  at::Tensor classWeights;     ///< [classes] fp32 on the host, of the training loss; undefined: all count alike
  double targetThreshold = 1;  ///< of the training loss (LossOptions)
  const Precision* precision = nullptr;
  KernelSelection kernels{layouts().front()};
  RecomputeEntry recompute = recomputes().front();
  OptimizerOptions optimizer;
  LossScaleRule lossScale;  ///< used if the precision scales the loss
  uint64_t seed = 1;
  bool servesAlone = false;  ///< its replicas compute nothing; the strategy keeps variables for other processes
  int firstReplica = 0;      ///< number of this process's first replica among those of all ranks
  /// Images in a step of each replica of all ranks; empty: all have as many. Samples count alike all the same.
  std::vector<int64_t> shares;
  int64_t accumulate = 1;      ///< number of equal micro-batches of a replica's batch
  bool syncBatchNorm = false;  ///< batch-norm normalises the batches of all replicas of all ranks as one
  bool forwardOnly = false;
  bool loaderOnly = false;     ///< replicas fetch their batches and compute nothing. REQUIRES: forwardOnly
  int64_t inFlight = 2;        ///< most steps in flight on a GPU
  bool blockingWaits = false;  ///< host waits sleep, for replicas that share cores
  WhiteningWeights whitening;  ///< initial values of some weights; those left out are drawn
  std::shared_ptr<const Pretrained> pretrained;  ///< replaces initial values; null: none
  GraphRecorder recorder;                        ///< of a replica's step; empty: steps run eagerly
  bool keepsFlightLog = false;                   ///< of what replicas do, for after a failure (trace/flight_recorder.h)
  BatchSourceMaker source;
};

/// Tensors by name.
using StateTensors = std::vector<std::pair<std::string, at::Tensor>>;

/// The seed of the numbers that dropout draws on a replica, of the run's seed.
uint64_t dropoutSeedOf(uint64_t seed, int replica);

/// The number of replicas of all processes of the run that train.
int64_t totalReplicas(const ReplicaSetOptions& options);

/// Whether replicas exchange batch-norm's statistics.
bool joinsStatistics(const ReplicaSetOptions& options);

/// The shares of this process's replicas; empty where all have as many, and where they only serve.
std::vector<int64_t> ownShares(const ReplicaSetOptions& options);

/// The mean of the shares of a step. Replicas average their gradients. So each divides by this number, whatever its own
/// share is, and the average is that over all images. Empty where all have as many.
std::optional<double> meanShare(const ReplicaSetOptions& options);

/// The replicas of one process. Builds each on its own thread and runs a body there.
class ReplicaSet {
 public:
  /// A replica as a body sees it. All methods run on the replica's thread. step(), barrier() and finish() are
  /// collective. They throw PeerError instead of waiting for a replica that has failed.
  class Member {
   public:
    virtual ~Member() = default;
    virtual int index() const = 0;
    virtual StepSample step() = 0;           ///< one batch and one update, or forward only
    virtual const Batch& batch() const = 0;  ///< the batch of the last step
    /// One of each step with backward since the last call. Waits for the device.
    virtual std::vector<double> losses() = 0;
    /// The loss scale after the last step; empty without loss scaling. Waits for the device. Throws as
    /// LossScale::state().
    virtual std::optional<LossScaleState> lossScale() = 0;
    virtual void synchronize() = 0;  ///< waits for the device; throws PeerError if another replica has failed
    virtual void barrier() = 0;      ///< waits for all other members
    virtual void finish() = 0;       ///< call it after the last step: parameters become those of the last update
    virtual Executor& executor() = 0;
    virtual FlatBuffers& buffers() = 0;
    virtual const Device& device() const = 0;

    // Between two steps, for a training that is evaluated, saved and resumed:
    virtual void settle() = 0;       ///< Strategy::settle(); collective
    virtual void gatherState() = 0;  ///< Strategy::gatherState(), after settle() and a barrier
    virtual void adoptState() = 0;   ///< Strategy::adoptState(); collective, before the first step
    /// What this replica alone has and must keep, by name: running statistics and their average, state of dropout's
    /// generator, loss scale, and the strategy's. Valid until the next step.
    virtual StateTensors ownState() = 0;
    /// Writes it back. Throws CheckpointError for a tensor that is missing, or has another shape or type.
    virtual void setOwnState(const StateTensors& state) = 0;
    /// Of it the running statistics and their average alone, for a training with another number of replicas. Throws
    /// alike.
    virtual void setStatistics(const StateTensors& state) = 0;
    /// With OptimizerOptions::average: exchanges running statistics and their average over the steps, as
    /// swapAverage() does with weights. A second call undoes the first.
    virtual void swapStatistics() = 0;
    /// The next step is number `step` of the training, from 0.
    virtual void continueAt(int64_t step) = 0;
    /// Reads its next batches from another source, made as by ReplicaSetOptions::source. Images may have another size
    /// if the graph differs in shapes alone then. Call it after synchronize() and a barrier.
    virtual void readFrom(const BatchSourceMaker& source) = 0;
  };

  explicit ReplicaSet(ReplicaSetOptions options);
  ~ReplicaSet();

  /// Builds the replicas, runs `body` on every replica's thread and joins the threads. The first failure aborts the
  /// other replicas and is rethrown here.
  void run(const std::function<void(Member&)>& body);

  StrategyTraffic traffic() const;             ///< of gradients, weights and statistics
  std::optional<Staleness> staleness() const;  ///< Strategy::staleness()
  std::string exchangeMemory() const;          ///< Strategy::exchangeMemory()
  std::string sums() const;                    ///< Strategy::sums()

 private:
  /// Arrives at `left` when this replica no longer uses another replica's memory.
  void runReplica(int index, const std::function<void(Member&)>& body, std::latch& left) noexcept;
  void noteFailure(int index, std::exception_ptr failure, const std::string& text) noexcept;

  ReplicaSetOptions options_;
  std::unique_ptr<Monitor> monitor_;
  std::unique_ptr<Barrier> barrier_;
  std::unique_ptr<Strategy> strategy_;
  std::unique_ptr<BatchFeed> feed_;
  std::unique_ptr<OutputPlacement> outputs_;
  std::vector<std::unique_ptr<StatisticsExchange>> statistics_;  // per replica; empty: each normalises its own batch
  Mutex failureMutex_;
  std::exception_ptr firstFailure_ TANDEM_GUARDED_BY(failureMutex_);
};

}  // namespace tandem
