#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <utility>

#include "data/dataset/dataset.h"

namespace tandem {

/// Bytes of one replica's share of a global batch, on the host.
struct HostBatch {
  at::Tensor images;  ///< [N, H, W, 3] uint8
  at::Tensor labels;  ///< [N, ...] in the form of the data set's labels
};

struct AugmentEntry {
  std::string_view name, summary;
  int64_t padding;  ///< random crop after zero padding of this many pixels on each edge; 0: no crop
  bool flip;        ///< random horizontal flip
};

/// standard (crop with padding 4 and flip), crop, none.
std::span<const AugmentEntry> augments();

struct BatchPlan {
  int64_t globalBatch = 0;        ///< of all replicas
  int64_t first = 0, count = 0;   ///< this replica's range of the global batch
  int64_t height = 0, width = 0;  ///< of the network's input; smaller images are centred on zeros
  uint64_t seed = 0;
  bool shuffle = true;
  const AugmentEntry* augment = nullptr;  ///< null: none
};

/// Makes any batch k by itself, on any thread. Its images are positions [k * globalBatch + first, + count) of the
/// endless sequence epoch 0, epoch 1, ... Each epoch is a permutation of the whole data set by (seed, epoch). So every
/// epoch visits every image once for any number of replicas, and a batch may straddle two epochs. Augmentation is keyed
/// by (seed, epoch, image). Grey images are repeated to three channels. Thread-safe.
class BatchMaker {
 public:
  /// Throws UsageError if the data set's images are larger than the network's input.
  BatchMaker(std::shared_ptr<const Dataset> dataset, BatchPlan plan);
  ~BatchMaker();
  /// Throws DataError for an invalid label, and what reading throws.
  HostBatch make(int64_t k) const;
  /// As above, into tensors of allocate(). Uses the calling thread's OpenMP team.
  void make(int64_t k, HostBatch& out) const;
  /// Tensors for one batch in the given memory (Device::hostMemory()); content undefined.
  HostBatch allocate(const at::TensorOptions& memory = {}) const;
  /// Index in the data set, and epoch, of a position of the sequence.
  std::pair<int64_t, int64_t> at(int64_t position) const;
  const BatchPlan& plan() const { return plan_; }
  const Dataset& dataset() const { return *dataset_; }

 private:
  struct Orders;  // the permutations in use
  std::shared_ptr<const Dataset> dataset_;
  BatchPlan plan_;
  std::unique_ptr<Orders> orders_;
};

}  // namespace tandem
