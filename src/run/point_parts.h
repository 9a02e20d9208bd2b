#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "executor/select/kernel_selection.h"
#include "formats/io/atomic_file.h"
#include "measure/record/record.h"
#include "run/plan/plan.h"
#include "run/plan/replica_set_options.h"
#include "run/run_point.h"
#include "train/replica_set.h"

namespace tandem {

// What a measurement of a point and a training have in common.

/// What the replicas of a plan really use.
ActualSetup placementOf(const RunPlan& plan, const ReplicaSetOptions& team);

/// Notes the work of the plan's steps.
void noteWork(const RunPlan& plan, ActualSetup& placement);

void append(std::vector<std::string>& notes, const std::vector<std::string>& more);

/// The processes of the run on this host, for the first rank there, which samples it; none for the others. Collective.
std::vector<int> observedProcesses(const RunPlan& plan);

/// Tells of a phase before the steps, which has so many parts. `progress` outlives the result.
std::function<void(int64_t, int64_t)> progressOf(Phase phase, const ProgressCallback& progress);

/// The plan with the shares that --split=measured finds. `kept`: those that it has found before; empty: none.
RunPlan withShares(RunPlan plan, std::vector<int64_t> kept, const KernelSelection& kernels, const TrainingData& data,
                   const ProgressCallback& progress);

/// Weights of the losses of this process's replicas, so that their mean over the replicas is that over all images.
/// Empty: 1.
std::vector<double> lossWeights(const ReplicaSetOptions& options);

/// Notes the replicas' shares of the batch, where they are not equal.
void noteShares(const ReplicaSetOptions& options, RunRecord& record);

/// The file of --save-weights, which replaces what is there once the run is judged. Without the option: nothing.
/// Members throw as AtomicFile and appendWeights().
class SavedWeights {
 public:
  explicit SavedWeights(const std::string& path);
  void write(const Graph& graph, ReplicaSet::Member& member);
  void note(RunRecord& record) const;
  void commit();

 private:
  const std::string path_;
  std::optional<AtomicFile> file_;
};

/// The options of the replicas, with the weights of --weights, whose notes the record gets.
ReplicaSetOptions startedOptions(const RunPlan& plan, const KernelSelection& kernels, const TrainingData& data,
                                 RunRecord& record);

/// Puts the samples of each replica together, in their order.
void sortByReplica(std::vector<StepSample>& samples);

/// What the images were that were really trained on; null: it is not known.
void fillOrigin(const BatchOrigin* origin, ActualSetup& placement);

/// Notes what was found while the images were read.
void noteData(const TrainingData& data, RunRecord& record);

/// What the replicas used and exchanged. Those that only serve are none of the record's.
void fillFrom(const ReplicaSet& team, const ReplicaSetOptions& options, RunRecord& record);

}  // namespace tandem
