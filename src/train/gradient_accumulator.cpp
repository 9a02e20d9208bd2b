#include "train/gradient_accumulator.h"

#include <ATen/ATen.h>

namespace tandem {

GradientAccumulator::GradientAccumulator(FlatBuffers& buffers, int64_t parts) : buffers_(buffers), parts_(parts) {
  for (int segment = 0; parts > 1 && segment < buffers.segments(); ++segment) {
    sums_.push_back(at::empty_like(buffers.written(buffers.whole(segment)), at::kFloat));
  }
}

bool GradientAccumulator::add(std::span<const Slice> slices, int64_t part) {
  for (const Slice slice : slices) {
    if (parts_ > 1) add(slice, part);
  }
  return part + 1 == parts_;
}

void GradientAccumulator::add(Slice slice, int64_t part) {
  at::Tensor sum = sums_.at(static_cast<size_t>(slice.segment)).slice(0, slice.begin, slice.end);
  at::Tensor gradient = buffers_.written(slice);
  if (part == 0) {
    sum.copy_(gradient);
  } else {
    sum.add_(gradient);
  }
  if (part + 1 == parts_) gradient.copy_(sum);
}

}  // namespace tandem
