#include "kernels/conv/nchwc.h"

#include <ATen/ATen.h>

#include "base/error.h"
#include "kernels/simd/isa_dispatch.h"

namespace tandem {

int64_t blockChannels() { return vectorLanes(); }

bool canBlock(int64_t channels) { return channels % blockChannels() == 0; }

BlockedSides blockedSides(int64_t inputs, int64_t outputs, int64_t groups) {
  if (inputs == groups && outputs == groups) return {canBlock(groups), canBlock(groups)};
  const bool output = canBlock(outputs / groups);
  return {output && canBlock(inputs / groups), output};
}

at::Tensor emptyBlockedWeight(at::IntArrayRef shape) {
  const int64_t b = blockChannels();
  return at::empty({shape[0] / b, shape[1] / b, shape[2], shape[3], b, b}).permute({0, 5, 1, 4, 2, 3});
}

at::Tensor emptyActivations(at::IntArrayRef shape, bool blocked, const at::TensorOptions& options) {
  const int64_t blocks = blocked ? shape[1] / blockChannels() : 1;
  return at::empty({shape[0] * blocks, shape[1] / blocks, shape[2], shape[3]},
                   options.memory_format(at::MemoryFormat::ChannelsLast));
}

at::Tensor toBlocked(const at::Tensor& plain) {
  const int64_t block = blockChannels(), images = plain.size(0), channels = plain.size(1);
  check(canBlock(channels), "toBlocked: whole blocks");
  if (channels == block) return plain.contiguous(at::MemoryFormat::ChannelsLast);
  const int64_t height = plain.size(2), width = plain.size(3);
  const at::Tensor split = plain.reshape({images, channels / block, block, height, width});
  at::Tensor blocked = emptyActivations(plain.sizes(), /*blocked=*/true, plain.options());
  blocked.view({images, channels / block, block, height, width}).copy_(split);
  return blocked;
}

at::Tensor fromBlocked(const at::Tensor& blocked, int64_t images) {
  const int64_t block = blocked.size(1), channels = blocked.size(0) / images * block;
  if (channels == block) return blocked;
  const int64_t height = blocked.size(2), width = blocked.size(3);
  at::Tensor plain = emptyActivations({images, channels, height, width}, /*blocked=*/false, blocked.options());
  plain.view({images, channels / block, block, height, width})
      .copy_(blocked.view({images, channels / block, block, height, width}));
  return plain;
}

}  // namespace tandem
