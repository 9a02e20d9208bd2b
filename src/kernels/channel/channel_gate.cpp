#include "kernels/channel/channel_gate.h"

#include <ATen/ATen.h>
#include <ATen/Parallel.h>

#include "base/error.h"
#include "kernels/channel/channel_gate_kernel.h"
#include "kernels/gpu/dispatch.h"
#include "kernels/tensor/pixels.h"
#include "kernels/tensor/reuse.h"

namespace tandem {
namespace {

constexpr auto channelsLast = at::MemoryFormat::ChannelsLast;
constexpr int64_t grainElements = 1 << 15;

const ChannelKernels& kernels() { return isaKernels<ChannelKernels>(); }

PixelRows rowsOf(const at::Tensor& x) { return {elementOf(x, "channels"), x.size(2) * x.size(3), x.size(1)}; }

/// Calls body(image) for all images of x, on the available threads.
template <class Body>
void overImages(const at::Tensor& x, const Body& body) {
  const int64_t grain = std::max<int64_t>(1, grainElements / x[0].numel());
  at::parallel_for(0, x.size(0), grain, [&](int64_t begin, int64_t end) {
    for (int64_t image = begin; image < end; ++image) body(image);
  });
}

/// The first value of an image.
const void* imageOf(const at::Tensor& x, int64_t image) {
  return static_cast<const char*>(x.const_data_ptr()) + image * x.stride(0) * x.element_size();
}
void* imageOf(at::Tensor& x, int64_t image) {
  return static_cast<char*>(x.data_ptr()) + image * x.stride(0) * x.element_size();
}

/// fp32 numbers [N, C].
at::Tensor numbersFor(const at::Tensor& x) { return at::empty({x.size(0), x.size(1)}, at::kFloat); }

/// Such numbers as [N, C, 1, 1], of the type of x.
at::Tensor asImage(const at::Tensor& numbers, const at::Tensor& x) {
  return numbers.to(x.scalar_type()).view({x.size(0), x.size(1), 1, 1});
}

at::Tensor gateNumbers(const at::Tensor& gate, const at::Tensor& x) {
  check(gate.numel() == x.size(0) * x.size(1), "channelProduct: one number for each channel of an image");
  return gate.reshape({x.size(0), x.size(1)}).to(at::kFloat).contiguous();
}

}  // namespace

at::Tensor channelMeans(const at::Tensor& x) {
  if (!hasPixelRows(x)) return at::adaptive_avg_pool2d(x, {1, 1});
  const PixelRows rows = rowsOf(x);
  at::Tensor sums = numbersFor(x);
  auto* const to = sums.data_ptr<float>();
  overImages(x, [&](int64_t image) { kernels().sums(rows, imageOf(x, image), to + image * rows.columns); });
  return asImage(sums.div_(static_cast<double>(rows.rows)), x);
}

at::Tensor channelMeansBackward(const at::Tensor& gradient, at::IntArrayRef sizes) {
  return gradient.div(static_cast<double>(sizes[2] * sizes[3])).expand(sizes);
}

at::Tensor channelProduct(const at::Tensor& x, const at::Tensor& gate) { return x * gate; }

ChannelProductGradients channelProductBackward(at::Tensor gradient, const at::Tensor& x, const at::Tensor& gate) {
  if (!hasPixelRows(x)) return {gradient * gate, (gradient * x).sum({2, 3}, /*keepdim=*/true)};
  gradient = gradient.contiguous(channelsLast);
  const PixelRows rows = rowsOf(x);
  const at::Tensor numbers = gateNumbers(gate, x);
  const auto* const factors = numbers.const_data_ptr<float>();
  at::Tensor sums = numbersFor(x), dx = memoryFor(x, gradient);
  auto* const to = sums.data_ptr<float>();
  overImages(x, [&](int64_t image) {
    const int64_t at = image * rows.columns;
    kernels().productGradients(rows, imageOf(gradient, image), imageOf(x, image), factors + at, imageOf(dx, image),
                               to + at);
  });
  return {std::move(dx), asImage(sums, x)};
}

}  // namespace tandem
