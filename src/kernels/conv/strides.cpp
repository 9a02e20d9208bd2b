#include "kernels/conv/strides.h"

#include <ATen/ATen.h>

#include "kernels/conv/nchwc.h"

namespace tandem {

ImageOrder orderOf(const at::Tensor& x, int64_t channels) {
  const int64_t height = x.size(2), width = x.size(3), images = x.numel() / (channels * height * width);
  const int64_t pixel = x.size(1), block = blockChannels();
  return {images,
          channels,
          height,
          width,
          channels * height * width,
          pixel == channels ? block : height * width * block,
          width * pixel,
          pixel};
}

WeightOrder orderOf(const at::Tensor& weight) {
  const auto s = weight.strides();
  if (weight.dim() == 6) {
    return {weight.size(0) * weight.size(1), weight.size(2) * weight.size(3), s[0], s[1], s[2], s[3], s[4], s[5]};
  }
  const int64_t block = blockChannels();
  return {weight.size(0), weight.size(1), block * s[0], s[0], block * s[1], s[1], s[2], s[3]};
}

bool hasOrder(const at::Tensor& weight) {
  return weight.dim() == 6 || weight.is_contiguous(at::MemoryFormat::ChannelsLast);
}

void sumChannels(const at::Tensor& dy, const at::Tensor& gradient) {
  const int64_t channels = gradient.numel(), parts = channels / dy.size(1);  // blocks of an image
  at::Tensor sums = at::zeros({channels}, at::kFloat);
  for (int64_t image = 0; image < dy.size(0) / parts;
       ++image) {  // image by image: ATen converts to fp32 in a copy, which is small then
    sums.add_(dy.narrow(0, image * parts, parts).sum({2, 3}, false, at::kFloat).view({channels}));
  }
  gradient.copy_(sums);
}

}  // namespace tandem
