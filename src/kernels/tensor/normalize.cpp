#include "kernels/tensor/normalize.h"

#include <ATen/ATen.h>
#include <ATen/Parallel.h>
#include <c10/core/DeviceGuard.h>

#include <algorithm>

#include "base/error.h"
#include "kernels/gpu/dispatch.h"
#include "kernels/tensor/normalize_kernel.h"

namespace tandem {
namespace {

constexpr int64_t grainElements = 1 << 16;

NormalizeArguments argumentsOf(const at::Tensor& bytes, const Normalization& normalization, at::Tensor& out) {
  check(bytes.scalar_type() == at::kByte && bytes.dim() == 4 && bytes.is_contiguous(), "normalize: bytes [N, H, W, C]");
  const int64_t channels = bytes.size(3);
  check(channels == 1 || channels == 3, "normalize: 1 or 3 channels");
  check(out.dim() == 4 && out.size(1) >= channels, "normalize: out has the channels of the bytes, or more");
  check(out.sizes() == at::IntArrayRef({bytes.size(0), out.size(1), bytes.size(1), bytes.size(2)}),
        "normalize: out [N, K, H, W]");
  const bool channelsLast = out.is_contiguous(at::MemoryFormat::ChannelsLast);
  check(channelsLast || out.is_contiguous(), "normalize: out is dense, NCHW or NHWC");
  check(bytes.device() == out.device(), "normalize: one device");
  std::array<float, 3> scale{};
  for (size_t i = 0; i < scale.size(); ++i) scale[i] = 1.0F / normalization.deviation[i];
  return {bytes.const_data_ptr<uint8_t>(),
          out.data_ptr(),
          elementOf(out, "normalize"),
          channelsLast,
          bytes.size(0),
          bytes.size(1),
          bytes.size(2),
          channels,
          out.size(1),
          normalization.mean,
          scale};
}

}  // namespace

void normalize(const at::Tensor& bytes, const Normalization& normalization, at::Tensor& out) {
  const NormalizeArguments arguments = argumentsOf(bytes, normalization, out);
  if (out.numel() == 0) return;
  if (!out.is_cpu()) {
    const c10::DeviceGuard guard(out.device());
    return gpu::normalize(arguments, currentStream(out));
  }
  const int64_t rowElements = arguments.width * arguments.outChannels;
  at::parallel_for(0, arguments.images * arguments.height, std::max<int64_t>(1, grainElements / rowElements),
                   [&](int64_t first, int64_t last) { cpu::normalize(arguments, first, last); });
}

at::Tensor normalizeReference(const at::Tensor& bytes, const Normalization& normalization, const at::Tensor& like) {
  const auto perChannel = [&](const std::array<float, 3>& values) {
    const at::Tensor channels = at::tensor(at::ArrayRef<float>(values), at::kDouble).to(bytes.device());
    return channels.narrow(0, 0, bytes.size(3)).view({1, -1, 1, 1});
  };
  const at::Tensor planes = bytes.permute({0, 3, 1, 2}).to(at::kDouble);  // [N, C, H, W]
  const at::Tensor result = (planes - perChannel(normalization.mean)) / perChannel(normalization.deviation);
  const at::Tensor wide = at::constant_pad_nd(result, {0, 0, 0, 0, 0, like.size(1) - result.size(1)}, 0);
  return wide.to(like.scalar_type()).contiguous(like.suggest_memory_format());
}

}  // namespace tandem
