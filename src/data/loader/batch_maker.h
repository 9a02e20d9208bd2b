#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <memory>
#include <utility>

#include "data/loader/bad_images.h"
#include "data/loader/host_batches.h"
#include "data/loader/input_maker.h"
#include "data/transform/augment.h"

namespace tandem {

struct BatchPlan {
  int64_t globalBatch = 0;        ///< of all replicas
  int64_t first = 0, count = 0;   ///< this replica's range of the global batch
  int64_t height = 0, width = 0;  ///< of the network's input
  int64_t firstBatch = 0;         ///< of the sequence, that make(0) makes
  uint64_t seed = 0;
  bool shuffle = true;
  int64_t shuffleBuffer = 0;                              ///< as of epochOrder()
  std::shared_ptr<const Augmentation> augment = nullptr;  ///< null: none, smaller images are centred on zeros
  std::shared_ptr<BadImages> badImages = nullptr;         ///< null: one that cannot be read ends the run
  bool parts = false;                                     ///< of image files only what is seen is decoded
};

/// Makes any batch k by itself, on any thread. Its images are positions [k * globalBatch + first, + count) of the
/// endless sequence epoch 0, epoch 1, ... Each epoch has the whole data set in epochOrder(). So every
/// epoch visits every image once for any number of replicas, and a batch may straddle two epochs. Augmentation is keyed
/// by (seed, epoch, image), or by (seed, image). Grey images are repeated to three channels. Thread-safe.
class BatchMaker final : public HostBatches {
 public:
  /// Throws UsageError if the data set's images do not come out of the chain as the network's inputs. REQUIRES: the
  /// data set has shards, where the plan has a buffer.
  BatchMaker(std::shared_ptr<const Dataset> dataset, BatchPlan plan);
  ~BatchMaker() override;
  /// Throws DataError for an invalid label, and for an image that cannot be read, as far as the plan does not bear it.
  HostBatch make(int64_t k) const;
  /// As above, into tensors of allocate(). Uses the calling thread's OpenMP team.
  void make(int64_t k, HostBatch& out) const;
  void make(int64_t k, const at::TensorOptions& memory, HostBatch& out) const override;
  const Normalization& normalization() const override { return dataset_->info().normalization; }
  BatchOrigin origin() const override;
  /// Tensors for one batch in the given memory (Device::hostMemory()); content undefined.
  HostBatch allocate(const at::TensorOptions& memory = {}) const;
  /// The input at a position of the sequence, on the calling thread alone. Throws as make().
  void makeInput(int64_t position, const InputPlace& out) const;
  /// Index in the data set, and epoch, of a position of the sequence.
  std::pair<int64_t, int64_t> at(int64_t position) const;
  const BatchPlan& plan() const { return plan_; }
  const Dataset& dataset() const { return *dataset_; }

 private:
  /// That of an image, or of what takes its place. Returns the index of the image whose label it has.
  int64_t readInput(int64_t index, int64_t epoch, const InputPlace& out) const;

  struct Orders;  // the permutations in use
  std::shared_ptr<const Dataset> dataset_;
  BatchPlan plan_;
  InputMaker inputs_;
  std::unique_ptr<Orders> orders_;
};

}  // namespace tandem
