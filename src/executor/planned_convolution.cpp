#include "executor/planned_convolution.h"

#include <ATen/ATen.h>

#include <array>
#include <utility>

#include "base/error.h"
#include "kernels/conv/convolution.h"
#include "kernels/norm/norm_act.h"

namespace tandem {
namespace {

/// Uses a kernel that may have its own order of weights and activations.
class PackedConvolution final : public PlannedOperation {
 public:
  PackedConvolution(const PlannedBinding& binding, std::unique_ptr<Convolution> kernel)
      : b_(binding), kernel_(std::move(kernel)) {}

  at::Tensor forward(std::span<const at::Tensor> inputs, PassMode mode) override {
    const at::Tensor input = inputs[0].contiguous(at::MemoryFormat::ChannelsLast);
    if (!mode.again) kernel_->weightsChanged();
    at::Tensor output = made(input, mode);
    if (mode.gradients) keep({&input, 1}, output);
    return output;
  }

  void keep(std::span<const at::Tensor> inputs, const at::Tensor&) override {
    input_ = inputs[0].contiguous(at::MemoryFormat::ChannelsLast);
  }

  std::vector<at::Tensor> backward(std::vector<at::Tensor> outputGradients) override {
    const at::Tensor gradient = addGradients(std::move(outputGradients)).contiguous(at::MemoryFormat::ChannelsLast);
    kernel_->backwardParameters(input_, gradient);
    const at::Tensor input = std::exchange(input_, {});
    return {b_.wantsGradient[0] ? kernel_->backwardInput(input, gradient) : at::Tensor()};
  }

 private:
  // Repeated by the same kernel, though nobody needs the sums then: another kernel's last bits would differ.
  at::Tensor made(const at::Tensor& input, PassMode mode) {
    if (!b_.sums || !mode.training) return kernel_->forward(input);
    ChannelStats sums;
    at::Tensor output = kernel_->forwardWithStats(input, sums);
    if (!mode.again) *b_.sums = std::move(sums);
    return output;
  }

  const PlannedBinding b_;
  std::unique_ptr<Convolution> kernel_;
  at::Tensor input_;
};

/// Uses ATen.
class AtenConvolution final : public PlannedOperation {
 public:
  explicit AtenConvolution(const PlannedBinding& binding) : b_(binding) {}

  at::Tensor forward(std::span<const at::Tensor> inputs, PassMode mode) override {
    const at::Tensor input = padded(inputs[0]);
    at::Tensor output = at::conv2d(input, b_.weight, b_.bias, strides(), padding(), {1, 1}, b_.node->attributes.groups);
    if (mode.gradients) input_ = input;
    return output;
  }

  void keep(std::span<const at::Tensor> inputs, const at::Tensor&) override { input_ = padded(inputs[0]); }

  std::vector<at::Tensor> backward(std::vector<at::Tensor> outputGradients) override {
    const at::Tensor gradient = addGradients(std::move(outputGradients));
    const bool hasBias = b_.bias.defined();
    const std::array<int64_t, 1> biasSizes{gradient.size(1)};
    auto [input, weight, bias] = at::convolution_backward(
        gradient, input_, b_.weight, hasBias ? at::OptionalIntArrayRef(biasSizes) : std::nullopt, strides(), padding(),
        {1, 1}, /*transposed=*/false, {0, 0}, b_.node->attributes.groups, {b_.wantsGradient[0], true, hasBias});
    input_.reset();
    b_.weightGradient.copy_(weight);
    if (hasBias) b_.biasGradient.copy_(bias);
    return {unpadded(input)};
  }

 private:
  std::array<int64_t, 2> strides() const { return {b_.node->attributes.strideH, b_.node->attributes.strideW}; }
  std::array<int64_t, 2> padding() const {
    const Padding& p = b_.node->attributes.padding;
    return p.symmetric() ? std::array{p.top, p.left} : std::array<int64_t, 2>{0, 0};
  }
  at::Tensor padded(const at::Tensor& input) const {
    const Padding& p = b_.node->attributes.padding;
    return p.symmetric() ? input : at::constant_pad_nd(input, {p.left, p.right, p.top, p.bottom}, 0);
  }
  at::Tensor unpadded(const at::Tensor& gradient) const {
    const Padding& p = b_.node->attributes.padding;
    if (p.symmetric() || !gradient.defined()) return gradient;
    return gradient.slice(2, p.top, gradient.size(2) - p.bottom).slice(3, p.left, gradient.size(3) - p.right);
  }

  const PlannedBinding b_;
  at::Tensor input_;  // padded
};

std::unique_ptr<PlannedOperation> makeConvolutionOf(const PlannedBinding& binding) {
  const Attributes& a = binding.node->attributes;
  const ConvolutionGeometry geometry{a.strideH,      a.strideW,       a.padding.top, a.padding.bottom,
                                     a.padding.left, a.padding.right, a.groups,      binding.blockedOutput};
  const ConvolutionParameters parameters{binding.weight, binding.bias, binding.weightGradient, binding.biasGradient};
  std::unique_ptr<Convolution> kernel;
  if (binding.format == at::MemoryFormat::ChannelsLast) {
    kernel = binding.engines.images > 0 ? makeCudnnConvolution(geometry, parameters, binding.engines, binding.plansOf)
                                        : makeConvolution(geometry, parameters, binding.algorithms);
  }
  if (kernel) return std::make_unique<PackedConvolution>(binding, std::move(kernel));
  check(!binding.blockedOutput, "blocked activations have a kernel");
  return std::make_unique<AtenConvolution>(binding);
}

/// For an input with zero channels behind those of the weight. Computes with an equally wide weight; of its gradient
/// only the parameter's part is kept.
class PaddedConvolution final : public PlannedOperation {
 public:
  explicit PaddedConvolution(const PlannedBinding& binding)
      : b_(binding),
        wideWeight_(wide(binding.weight)),
        wideGradient_(wide(binding.weightGradient)),
        convolution_(makeConvolutionOf(widened())) {}

  at::Tensor forward(std::span<const at::Tensor> inputs, PassMode mode) override {
    if (!mode.again) own(wideWeight_).copy_(b_.weight);
    return convolution_->forward(inputs, mode);
  }

  void keep(std::span<const at::Tensor> inputs, const at::Tensor& output) override {
    convolution_->keep(inputs, output);
  }

  std::vector<at::Tensor> backward(std::vector<at::Tensor> outputGradients) override {
    std::vector<at::Tensor> inputs = convolution_->backward(std::move(outputGradients));
    b_.weightGradient.copy_(own(wideGradient_));
    return inputs;
  }

 private:
  at::Tensor wide(const at::Tensor& tensor) const {
    std::vector<int64_t> shape = tensor.sizes().vec();
    shape[1] += b_.plan->zeroChannels;
    return at::empty(shape, tensor.options().memory_format(b_.format)).zero_();
  }
  at::Tensor own(const at::Tensor& tensor) const { return tensor.narrow(1, 0, b_.weight.size(1)); }
  PlannedBinding widened() const {
    PlannedBinding binding = b_;
    binding.weight = wideWeight_;
    binding.weightGradient = wideGradient_;
    return binding;
  }

  const PlannedBinding b_;
  at::Tensor wideWeight_, wideGradient_;
  std::unique_ptr<PlannedOperation> convolution_;
};

}  // namespace

std::unique_ptr<PlannedOperation> makePlannedConvolution(const PlannedBinding& binding) {
  if (binding.plan->zeroChannels > 0) return std::make_unique<PaddedConvolution>(binding);
  return makeConvolutionOf(binding);
}

}  // namespace tandem
