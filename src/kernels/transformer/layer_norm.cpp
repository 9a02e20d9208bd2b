#include "kernels/transformer/layer_norm.h"

#include <ATen/ATen.h>
#include <ATen/Parallel.h>

#include <algorithm>
#include <utility>

#include "kernels/gpu/dispatch.h"
#include "kernels/tensor/pixels.h"
#include "kernels/tensor/reuse.h"
#include "kernels/transformer/transformer_kernel.h"

namespace tandem {
namespace {

constexpr auto channelsLast = at::MemoryFormat::ChannelsLast;
constexpr int64_t chunksAtMost = 64, grainElements = 1 << 14;

const TransformerKernels& kernels() { return isaKernels<TransformerKernels>(); }

/// The parameter in a type that ATen takes beside x: only its CPU kernels mix fp32 with 16-bit types.
at::Tensor likeAtens(const at::Tensor& parameter, const at::Tensor& x) {
  return x.is_cpu() ? parameter : parameter.to(x.scalar_type());
}

at::Tensor numbers(const at::Tensor& parameter) { return parameter.to(at::kFloat).contiguous(); }

/// The pixels of x, cut into chunks that do not depend on the number of threads, so that sums do not.
struct Chunks {
  explicit Chunks(const at::Tensor& x)
      : columns(x.size(1)),
        rows(x.numel() / columns),
        perChunk(std::max((rows + chunksAtMost - 1) / chunksAtMost, std::min(rows, grainElements / columns + 1))),
        count((rows + perChunk - 1) / perChunk) {}

  /// Calls body(chunk, first row, end of rows) for all chunks, on the available threads.
  template <class Body>
  void overAll(const Body& body) const {
    at::parallel_for(0, count, 1, [&](int64_t begin, int64_t end) {
      for (int64_t chunk = begin; chunk < end; ++chunk) {
        body(chunk, chunk * perChunk, std::min(rows, (chunk + 1) * perChunk));
      }
    });
  }

  int64_t columns, rows, perChunk, count;
};

}  // namespace

at::Tensor layerNorm(const at::Tensor& x, const at::Tensor& scale, const at::Tensor& shift, double epsilon,
                     LayerNormSaved& saved) {
  if (!hasPixelRows(x)) {
    at::Tensor y;
    std::tie(y, saved.mean, saved.inverseDeviation) =
        at::native_layer_norm(channelsBehind(x), {x.size(1)}, likeAtens(scale, x), likeAtens(shift, x), epsilon);
    return channelsBefore(y);
  }
  const Chunks chunks(x);
  const at::Tensor factors = numbers(scale), offsets = numbers(shift);
  at::Tensor y = at::empty_like(x);
  saved = {at::empty({chunks.rows}, at::kFloat), at::empty({chunks.rows}, at::kFloat)};
  const LayerNormArguments arguments{.type = elementOf(x, "layerNorm"),
                                     .columns = chunks.columns,
                                     .x = x.const_data_ptr(),
                                     .scale = factors.const_data_ptr<float>(),
                                     .shift = offsets.const_data_ptr<float>(),
                                     .epsilon = static_cast<float>(epsilon),
                                     .y = y.data_ptr(),
                                     .mean = saved.mean.data_ptr<float>(),
                                     .inverseDeviation = saved.inverseDeviation.data_ptr<float>()};
  chunks.overAll([&](int64_t, int64_t first, int64_t last) { kernels().layerNorm(arguments, first, last); });
  return y;
}

LayerNormGradients layerNormBackward(at::Tensor gradient, const at::Tensor& x, const at::Tensor& scale,
                                     const LayerNormSaved& saved) {
  if (!hasPixelRows(x)) {
    const at::Tensor wide = likeAtens(scale, x);
    auto [dx, ofScale, ofShift] =
        at::native_layer_norm_backward(channelsBehind(gradient), channelsBehind(x), {x.size(1)}, saved.mean,
                                       saved.inverseDeviation, wide, wide, {true, true, true});
    return {channelsBefore(dx), ofScale.to(scale.scalar_type()), ofShift.to(scale.scalar_type())};
  }
  const Chunks chunks(x);
  gradient = gradient.contiguous(channelsLast);
  const at::Tensor factors = numbers(scale);
  at::Tensor dx = memoryFor(x, gradient), sums = at::empty({2, chunks.count, chunks.columns}, at::kFloat);
  const LayerNormGradientArguments arguments{.type = elementOf(x, "layerNormBackward"),
                                             .columns = chunks.columns,
                                             .x = x.const_data_ptr(),
                                             .scale = factors.const_data_ptr<float>(),
                                             .mean = saved.mean.const_data_ptr<float>(),
                                             .inverseDeviation = saved.inverseDeviation.const_data_ptr<float>(),
                                             .gradient = gradient.const_data_ptr(),
                                             .dx = dx.data_ptr()};
  chunks.overAll([&, ofScale = sums.data_ptr<float>(), ofShift = sums[1].data_ptr<float>()](
                     int64_t chunk, int64_t first, int64_t last) {
    const int64_t at = chunk * chunks.columns;
    kernels().layerNormGradient(arguments, first, last, ofScale + at, ofShift + at);
  });
  const at::Tensor totals = sums.sum(1, /*keepdim=*/false, at::kDouble).to(scale.scalar_type());
  return {std::move(dx), totals[0], totals[1]};
}

}  // namespace tandem
