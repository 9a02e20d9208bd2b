#pragma once

#include "data/dataset/cached_dataset.h"
#include "data/loader/batch_maker.h"
#include "run/plan/plan.h"
#include "train/replica_set.h"

namespace tandem {

/// The devices of a resolved plan's replicas.
std::vector<Device> devicesOf(const RunPlan& plan);

/// The options of the plan's replicas, which run `graph` (the plan's or a part of it) with `kernels`. They have no
/// batch source. `graph` must outlive the result.
ReplicaSetOptions replicaSetOptions(const RunPlan& plan, const Graph& graph, const KernelSelection& kernels);

/// The images that the plan trains on, and those of them that cannot be read; null where one ends the run. Where
/// batches come from outside, the images are synthetic. Processes that make or send batches are among the feeders.
struct TrainingData {
  std::shared_ptr<const Dataset> images;
  std::shared_ptr<BadImages> bad;
  std::shared_ptr<Feeders> feeders = nullptr;
  std::shared_ptr<const CachedDataset> cache = nullptr;  ///< the images, if --cache keeps them in this process
  std::shared_ptr<CacheUse> caches = nullptr;            ///< those of the feeders, if it keeps them there

  /// "--cache keeps 800 of 1000 samples, 12.3 MiB"; empty: there is no cache.
  std::string cacheText() const;
};

/// What becomes of those of so many images that cannot be read, by --bad-image; null: one ends the run. Unless
/// `leavesOut`, each is black.
std::shared_ptr<BadImages> badImagesOf(const RunPlan& plan, int64_t images, bool leavesOut);

/// Opens the data set of --data, and throws as openDataset().
TrainingData trainingData(const RunPlan& plan);

/// The same for the plan's whole graph, with the batch sources that the plan asks for, of `data`. The plan's graph must
/// outlive the result. Without images: of trainingData().
ReplicaSetOptions trainingOptions(const RunPlan& plan, const KernelSelection& kernels, TrainingData data = {});

/// Makes the batch sources that the plan asks for, of `data`, from batch RunPlan::firstBatch on.
BatchSourceMaker batchSources(const RunPlan& plan, const KernelSelection& kernels, const TrainingData& data);

/// What makes the batches of replica `replica` of all ranks, each that of `count` replicas.
std::shared_ptr<const BatchMaker> batchMaker(const RunPlan& plan, int64_t replica, int64_t count,
                                             const TrainingData& data);

/// The hardware threads of a replica of this process; empty: any.
std::vector<int> threadsOfReplica(const RunPlan& plan, int64_t replica);

/// How the plan's images are mixed.
Mixing mixingOf(const RunPlan& plan);

/// The plan's global batches, whole.
std::shared_ptr<const BatchMaker> joinedBatches(const RunPlan& plan, const TrainingData& data);

}  // namespace tandem
