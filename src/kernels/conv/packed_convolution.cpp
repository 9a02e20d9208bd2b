#include <ATen/ATen.h>
#include <ATen/Parallel.h>

#include <algorithm>

#include "kernels/conv/algorithms.h"
#include "kernels/conv/strides.h"
#include "kernels/conv/weight_gradient_override.h"
#include "kernels/conv/wgrad_gemm.h"
#include "kernels/gpu/dispatch.h"
#include "kernels/simd/cache_size.h"

namespace tandem {
namespace {

using packed::WeightGradient;

// A panel of this many steps stays in the first-level cache, and both packed sides in two thirds of the second.
constexpr int64_t leastSteps = 32, mostSteps = 128, wordBytes = 4;

class PackedConvolution final : public WeightGradientBy {
 public:
  using WeightGradientBy::WeightGradientBy;

  void backwardParameters(const at::Tensor& x, const at::Tensor& dy) override;
};

// Threads share the rows in whole vectors and pack the columns each for itself: no synchronisation, and each sum is
// computed by one thread in one order.
void PackedConvolution::backwardParameters(const at::Tensor& x, const at::Tensor& dy) {
  const bool isFp32 = p_.weight.scalar_type() == at::kFloat;
  const at::Tensor sum = isFp32 ? p_.weightGradient : at::empty_like(p_.weightGradient, at::kFloat);
  const WeightOrder order = orderOf(sum);
  WeightGradient gradient{x.const_data_ptr(),
                          dy.const_data_ptr(),
                          orderOf(x, order.inputs),
                          orderOf(dy, order.outputs),
                          p_.weight.size(-2),
                          p_.weight.size(-1),
                          g_.strideH,
                          g_.strideW,
                          g_.top,
                          g_.left,
                          sum.mutable_data_ptr<float>(),
                          order,
                          p_.weight.dim() == 6,
                          mostSteps};
  // Few rows or columns allow more steps, which spreads the cost of reading and writing the sums.
  const int64_t steps = coreCacheBytes() * 2 / 3 / (wordBytes * packed::wordsOfStep(gradient, gradient.rows()));
  gradient.stepsAtOnce = std::clamp(steps, leastSteps, mostSteps);
  const packed::Sums sumsOf = isFp32 ? isaKernels<packed::Kernels>().ofFp32 : packed::cpu::sumsOfBf16;
  const int64_t lanes = vectorLanes();
  at::parallel_for(0, (gradient.rows() + lanes - 1) / lanes, 1, [&](int64_t begin, int64_t end) {
    const int64_t first = begin * lanes, last = std::min(end * lanes, gradient.rows());
    const int64_t words = gradient.stepsAtOnce * packed::wordsOfStep(gradient, last - first);
    const at::Tensor scratch = at::empty({words * wordBytes}, at::kByte);
    sumsOf(gradient, first, last, scratch.data_ptr());
  });
  if (!isFp32) p_.weightGradient.copy_(sum);
  if (p_.biasGradient.defined()) sumChannels(dy, p_.biasGradient);
}

}  // namespace

std::unique_ptr<Convolution> makePackedConvolution(const ConvolutionGeometry& geometry,
                                                   const ConvolutionParameters& parameters) {
  const bool takesType = parameters.weight.scalar_type() == at::kFloat || packed::cpu::takesBf16();
  if (geometry.groups != 1 || !takesType || !hasOrder(parameters.weight)) return nullptr;
  auto direct = makeDirectConvolution(geometry, parameters);
  if (!direct) return nullptr;
  return std::make_unique<PackedConvolution>(geometry, parameters, std::move(direct));
}

}  // namespace tandem
