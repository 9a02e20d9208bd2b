#pragma once

#include <span>
#include <vector>

#include "device/flat_buffers.h"

namespace tandem {

/// Adds up the gradients of a batch that runs in parts, in fp32 whatever the gradients' type. For one thread; `buffers`
/// must outlive it.
class GradientAccumulator {
 public:
  GradientAccumulator(FlatBuffers& buffers, int64_t parts);

  /// Backward of part number `part`, from 0, has written the slices. True when that was the last one: they then hold
  /// the sum of all parts.
  bool add(std::span<const Slice> slices, int64_t part);

 private:
  void add(Slice slice, int64_t part);

  FlatBuffers& buffers_;
  int64_t parts_;
  std::vector<at::Tensor> sums_;  // per segment, [n] fp32; none for a single part
};

}  // namespace tandem
