#include <ATen/ATen.h>
#include <ATen/Parallel.h>

#include <algorithm>
#include <utility>

#include "kernels/conv/algorithms.h"
#include "kernels/conv/conv1x1_gemm.h"
#include "kernels/conv/nchwc.h"
#include "kernels/conv/strides.h"
#include "kernels/simd/cache_size.h"

namespace tandem {
namespace {

using pointwise::Pixels, pointwise::Weights;

const pointwise::Kernels& kernels() { return isaKernels<pointwise::Kernels>(); }

class PointwiseConvolution final : public Convolution {
 public:
  PointwiseConvolution(const ConvolutionGeometry& geometry, const ConvolutionParameters& parameters,
                       std::unique_ptr<Convolution> direct)
      : g_(geometry), p_(parameters), weights_(orderOf(parameters.weight)), direct_(std::move(direct)) {}

  void weightsChanged() override {
    direct_->weightsChanged();
    forwardCurrent_ = backwardCurrent_ = false;
  }

  at::Tensor forward(const at::Tensor& x) override {
    const ImageOrder order = orderOf(x, weights_.inputs);
    const int64_t high = (order.height - 1) / g_.strideH + 1, wide = (order.width - 1) / g_.strideW + 1;
    at::Tensor y = emptyActivations({order.images, weights_.outputs, high, wide}, g_.blockedOutput, x.options());
    multiply({x.const_data_ptr<float>(), y.mutable_data_ptr<float>(), strided(order), dense(y, weights_.outputs), high,
              wide, packed(false, forwardWeights_, forwardCurrent_), 1},
             order.images);
    return y;
  }

  at::Tensor backwardInput(const at::Tensor& x, const at::Tensor& dy) override {
    at::Tensor dx = at::empty_like(x);
    const ImageOrder order = orderOf(dx, weights_.inputs);
    // Pixels between the strides get no gradient.
    if (g_.strideH > 1 || g_.strideW > 1) dx.zero_();
    multiply({dy.const_data_ptr<float>(), dx.mutable_data_ptr<float>(), dense(dy, weights_.outputs), strided(order),
              dy.size(2), dy.size(3), packed(true, backwardWeights_, backwardCurrent_), 1},
             order.images);
    return dx;
  }

  void backwardParameters(const at::Tensor& x, const at::Tensor& dy) override { direct_->backwardParameters(x, dy); }

  // The weights are packed once per step and pass, not in every call.
 private:
  Pixels strided(const ImageOrder& order) const { return {order, g_.strideH, g_.strideW}; }
  static Pixels dense(const at::Tensor& images, int64_t channels) { return {orderOf(images, channels), 1, 1}; }

  // Forward and backward multiply with different sides of the weights, so each has its own packed copy.
  const float* packed(bool turned, at::Tensor& memory, bool& current) const {
    if (!memory.defined()) memory = at::empty({p_.weight.numel()}, at::kFloat);
    auto* const to = memory.mutable_data_ptr<float>();
    if (std::exchange(current, true)) return to;
    const Weights weights{p_.weight.const_data_ptr<float>(), weights_, turned};
    const int64_t columns = turned ? weights_.inputs : weights_.outputs;
    at::parallel_for(0, columns / vectorLanes(), 1,
                     [&](int64_t first, int64_t last) { kernels().pack(weights, first, last, to); });
    return to;
  }

  // x takes half of the cache; the rest is for the weights.
  static void multiply(pointwise::Product product, int64_t images) {
    const int64_t bytes = product.from.order.channels * static_cast<int64_t>(sizeof(float));
    product.placesAtOnce = std::clamp<int64_t>(coreCacheBytes() / 2 / bytes, 1, kernels().mostPlaces);
    at::parallel_for(0, images * product.high * product.wide, product.placesAtOnce,
                     [&](int64_t first, int64_t last) { kernels().multiply(product, first, last); });
  }

  ConvolutionGeometry g_;
  ConvolutionParameters p_;
  WeightOrder weights_;
  std::unique_ptr<Convolution> direct_;
  at::Tensor forwardWeights_, backwardWeights_;
  bool forwardCurrent_ = false, backwardCurrent_ = false;
};

}  // namespace

std::unique_ptr<Convolution> makePointwiseConvolution(const ConvolutionGeometry& g,
                                                      const ConvolutionParameters& parameters) {
  const at::Tensor& weight = parameters.weight;
  if (weight.scalar_type() != at::kFloat || !weight.is_cpu() || !hasOrder(weight) || parameters.bias.defined()) {
    return nullptr;
  }
  const bool padded = std::max({g.top, g.bottom, g.left, g.right}) > 0;
  if (weight.size(-1) != 1 || weight.size(-2) != 1 || padded || g.groups != 1) return nullptr;
  const WeightOrder order = orderOf(weight);
  if (!canBlock(order.inputs) || !canBlock(order.outputs)) return nullptr;
  auto direct = makeDirectConvolution(g, parameters);
  if (!direct) return nullptr;
  return std::make_unique<PointwiseConvolution>(g, parameters, std::move(direct));
}

}  // namespace tandem
