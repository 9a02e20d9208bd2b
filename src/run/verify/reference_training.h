#pragma once

#include <memory>
#include <vector>

#include "data/loader/batch_maker.h"
#include "data/loader/mixing.h"
#include "device/flat_buffers.h"
#include "kernels/tensor/normalize.h"
#include "train/replica_set.h"

namespace tandem {

/// The steps of a team of replicas, those of all ranks, done plainly by one: the oracle of run/verify/verification.h.
///
/// One set of weights. Every operation is an ATen call of the autograd executor; normalisation, loss and update are the
/// references by ATen. A step runs the replicas' shares of the joined batch one after the other, in the team's
/// micro-batches, and updates with the mean of their gradients, summed in the master type. Each share has an executor
/// of its own. So batch-norm has the statistics of a replica, and dropout draws a replica's numbers. With
/// joinsStatistics() all shares are one batch of one executor, without an exchange.
///
/// For one thread, which is bound to the device.
class ReferenceTraining {
 public:
  /// `precision` need not be the team's, nor of the catalog. The team must outlive this object. Initial weights are
  /// the team's.
  ReferenceTraining(const ReplicaSetOptions& team, const Precision& precision, at::Device device);

  /// What a step trains on: a batch of all replicas.
  struct Joined {
    HostBatch batch;
    Normalization normalization;
    Mixing mixing = {};
    int64_t number = 0;  ///< of the global batch
  };
  void step(const Joined& joined);

  const FlatBuffers& buffers() const { return buffers_; }

 private:
  struct Rows {
    int64_t first, count;
  };
  /// Of each micro-batch in turn that `executors_` run, all shares after one another or all joined.
  std::vector<std::vector<Rows>> partsOf(int64_t images) const;
  /// These rows of a batch, normalised and mixed, on the device.
  Batch partOf(const Joined& joined, const std::vector<Rows>& rows) const;
  void runPart(Executor& executor, const Batch& part, double divisor);
  void addGradients();
  void update();

  const ReplicaSetOptions& team_;
  const Precision& precision_;
  at::Device device_;
  FlatBuffers buffers_;
  std::vector<std::unique_ptr<Executor>> executors_;  // one per replica; with joined statistics the first runs alone
  std::unique_ptr<Optimizer> optimizer_;
  std::vector<at::Tensor> sums_;  // of gradients, per segment, in the master type
  double lossScale_;
  LossOptions counting_;  // its tensor on the device
  int64_t steps_ = 0;
};

}  // namespace tandem
