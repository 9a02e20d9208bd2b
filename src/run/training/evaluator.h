#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "data/loader/batch_maker.h"
#include "data/loader/batch_source.h"
#include "executor/select/kernel_selection.h"
#include "measure/metrics/evaluation.h"
#include "run/plan/plan.h"
#include "train/replica_set.h"

namespace tandem {

/// Runs the images of a split through the replicas of a training, between two of its steps, in evaluation mode. Each
/// image counts once. Images are dealt in whole batches, of one size, so what is computed of an image depends neither
/// on the number of replicas nor on that of ranks.
class Evaluator {
 public:
  /// Opens the split. Batches have `batch` images per replica. Throws as openDataset(), and UsageError where images do
  /// not come out as the network's inputs. `plan` outlives this object; its world is that of the ranks.
  Evaluator(const RunPlan& plan, DataSplit split, int64_t batch, const KernelSelection& kernels);

  DataSplit split() const { return split_; }
  int64_t images() const { return images_->size(); }

  /// Begins to make the replica's first batches, on threads beside it. On each member's thread, before run().
  void prefetch(const ReplicaSet::Member& member);

  /// Computes all batches. Collective, on each member's thread. After it and a barrier result() is valid, unless
  /// `isGivenUp` has said so meanwhile, which may be true for some members alone.
  void run(ReplicaSet::Member& member, const std::function<bool()>& isGivenUp);

  /// What was computed of all images: of this process's, and after gather() on rank 0 of all.
  const EvaluatedImages& result() const { return result_; }
  /// The wrong predictions of result(), as surestErrors() orders them, with the names of their images.
  std::vector<WrongPrediction> surestErrors(int64_t most) const;
  /// Brings the results of all ranks to rank 0. Called by member 0 of each rank, after a run() that was not given up.
  void gather();
  /// Whether the last run() came to its end, as gather() says.
  bool isComplete() const { return isComplete_; }

  /// The images that could not be read and were black, for people; empty: there were none.
  std::string badText() const { return bad_ ? bad_->text() : ""; }

 private:
  /// The numbers of this replica among those of all ranks, and of all.
  int64_t place(const ReplicaSet::Member& member) const;
  int64_t places() const;
  void judge(ReplicaSet::Member& member, const Batch& batch, int64_t first, int64_t count);

  const RunPlan& plan_;
  const DataSplit split_;
  const int64_t batch_;
  const KernelSelection kernels_;
  const std::shared_ptr<const Dataset> images_;
  const std::shared_ptr<BadImages> bad_;               // null: one ends the run
  const std::vector<Device> devices_;                  // for the threads of the sources, which outlive the replicas
  std::vector<std::unique_ptr<BatchSource>> sources_;  // by replica; each is its replica's own
  bool isComplete_ = false;                            // written by member 0
  EvaluatedImages result_;                             // each row belongs to one batch, so it needs no lock
};

}  // namespace tandem
