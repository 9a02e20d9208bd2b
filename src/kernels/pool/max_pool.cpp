#include "kernels/pool/max_pool.h"

#include <ATen/ATen.h>
#include <c10/core/DeviceGuard.h>

#include "kernels/gpu/dispatch.h"
#include "kernels/pool/max_pool_in_blocks.h"

namespace tandem {
namespace {

constexpr auto channelsLast = at::MemoryFormat::ChannelsLast;
constexpr std::array<int64_t, 2> dilation{1, 1};

void enqueue(const MaxPoolProgram& program, const at::Tensor& x) {
  const c10::DeviceGuard guard(x.device());
  gpu::maxPool(program, currentStream(x));
}

// A view of some channels of an NHWC tensor counts as NHWC.
bool isNhwc(const at::Tensor& x) { return x.dim() == 4 && (x.is_contiguous(channelsLast) || x.stride(1) == 1); }

bool runsKernel(const at::Tensor& x, const PoolWindow& window) {
  return isNhwc(x) && x.numel() > 0 && hasMaxPoolKernel(x.device(), x.scalar_type(), channelsLast, window) &&
         canNumberPackets(x, window);
}

}  // namespace

bool hasMaxPoolKernel(at::Device device, at::ScalarType type, at::MemoryFormat format, const PoolWindow& window) {
  return device.is_cuda() && isElement(type) && format == channelsLast &&
         window.kernel[0] * window.kernel[1] <= mostPoolPlaces;
}

at::Tensor maxPool(const at::Tensor& x, const PoolWindow& w, MaxPoolSaved* saved) {
  if (runsKernel(x, w)) return maxPoolInBlocks(enqueue, x.contiguous(channelsLast), w, saved);
  if (saved == nullptr) return at::max_pool2d(x, w.kernel, w.stride, w.padding, dilation, w.ceilMode);
  auto [y, places] = at::max_pool2d_with_indices(x, w.kernel, w.stride, w.padding, dilation, w.ceilMode);
  *saved = {std::move(places), x, x.sizes().vec()};
  return y;
}

at::Tensor maxPoolBackward(const at::Tensor& gradient, const PoolWindow& w, const MaxPoolSaved& saved) {
  if (!saved.x.defined()) return maxPoolBackwardInBlocks(enqueue, gradient, w, saved);
  return at::max_pool2d_with_indices_backward(gradient, saved.x, w.kernel, w.stride, w.padding, dilation, w.ceilMode,
                                              saved.places);
}

}  // namespace tandem
