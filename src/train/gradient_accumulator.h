#pragma once

#include <span>
#include <vector>

#include "device/flat_buffers.h"

namespace tandem {

/// Sums the gradients of a batch's micro-batches (--accumulate), in fp32 for every gradient type. For one thread.
/// `buffers` must outlive this object.
class GradientAccumulator {
 public:
  GradientAccumulator(FlatBuffers& buffers, int64_t parts);

  /// Called after backward of micro-batch `part` (from 0) wrote the slices. True for the last micro-batch: the slices
  /// then hold the sum of all. Micro-batches must come in order.
  bool add(std::span<const Slice> slices, int64_t part);

 private:
  void add(Slice slice, int64_t part);

  FlatBuffers& buffers_;
  int64_t parts_;
  std::vector<at::Tensor> sums_;  // per segment, [n] fp32; empty if there is one micro-batch
};

}  // namespace tandem
