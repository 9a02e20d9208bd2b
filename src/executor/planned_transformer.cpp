#include "executor/planned_transformer.h"

#include <ATen/ATen.h>

#include <utility>

#include "kernels/channel/channel_gate.h"
#include "kernels/norm/norm_act.h"
#include "kernels/transformer/layer_norm.h"

namespace tandem {
namespace {

class LayerNorm final : public PlannedOperation {
 public:
  explicit LayerNorm(const PlannedBinding& binding) : b_(binding) {}

  at::Tensor forward(std::span<const at::Tensor> inputs, PassMode mode) override {
    const at::Tensor input = inputs[0].contiguous(b_.format);
    at::Tensor output = layerNorm(input, b_.weight, b_.bias, b_.node->attributes.epsilon, saved_);
    if (mode.gradients) input_ = input;
    return output;
  }

  // The statistics stay from forward().
  void keep(std::span<const at::Tensor> inputs, const at::Tensor&) override {
    input_ = inputs[0].contiguous(b_.format);
  }

  std::vector<at::Tensor> backward(std::vector<at::Tensor> outputGradients) override {
    LayerNormGradients gradients =
        layerNormBackward(addGradients(std::move(outputGradients)), std::exchange(input_, {}), b_.weight, saved_);
    b_.weightGradient.copy_(gradients.scale);
    b_.biasGradient.copy_(gradients.shift);
    return {std::move(gradients.x)};
  }

 private:
  const PlannedBinding b_;
  LayerNormSaved saved_;
  at::Tensor input_;
};

/// The product with one parameter for each channel.
class LayerScale final : public PlannedOperation {
 public:
  explicit LayerScale(const PlannedBinding& binding) : b_(binding) {}

  at::Tensor forward(std::span<const at::Tensor> inputs, PassMode mode) override {
    at::Tensor output = channelProduct(inputs[0], b_.weight);
    if (mode.gradients) keep(inputs, output);
    return output;
  }

  void keep(std::span<const at::Tensor> inputs, const at::Tensor&) override { input_ = inputs[0]; }

  std::vector<at::Tensor> backward(std::vector<at::Tensor> outputGradients) override {
    const at::Tensor input = std::exchange(input_, {});
    auto gradients = channelProductBackward(addGradients(std::move(outputGradients)), input,
                                            b_.weight.expand({input.size(0), input.size(1), 1, 1}));
    b_.weightGradient.copy_(gradients.gate.sum(0));
    return {std::move(gradients.x)};
  }

 private:
  const PlannedBinding b_;
  at::Tensor input_;
};

}  // namespace

std::unique_ptr<PlannedOperation> makePlannedLayerNorm(const PlannedBinding& binding) {
  return std::make_unique<LayerNorm>(binding);
}

std::unique_ptr<PlannedOperation> makePlannedLayerScale(const PlannedBinding& binding) {
  return std::make_unique<LayerScale>(binding);
}

}  // namespace tandem
