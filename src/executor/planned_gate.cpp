#include "executor/planned_gate.h"

#include <utility>

#include "kernels/channel/channel_gate.h"
#include "kernels/norm/norm_act.h"

namespace tandem {
namespace {

/// The product with one number for each channel of an image.
class Multiply final : public PlannedOperation {
 public:
  at::Tensor forward(std::span<const at::Tensor> inputs, PassMode mode) override {
    at::Tensor output = channelProduct(inputs[0], inputs[1]);
    if (mode.gradients) keep(inputs, output);
    return output;
  }

  void keep(std::span<const at::Tensor> inputs, const at::Tensor&) override { x_ = inputs[0], gate_ = inputs[1]; }

  std::vector<at::Tensor> backward(std::vector<at::Tensor> outputGradients) override {
    auto gradients = channelProductBackward(addGradients(std::move(outputGradients)), x_, gate_);
    x_.reset();
    gate_.reset();
    return {std::move(gradients.x), std::move(gradients.gate)};
  }

 private:
  at::Tensor x_, gate_;
};

class GlobalAveragePool final : public PlannedOperation {
 public:
  explicit GlobalAveragePool(at::MemoryFormat format) : format_(format) {}

  at::Tensor forward(std::span<const at::Tensor> inputs, PassMode) override {
    sizes_ = inputs[0].sizes().vec();
    return channelMeans(inputs[0]);
  }

  void keep(std::span<const at::Tensor>, const at::Tensor&) override {}

  // Batch-norm on the CPU reads the view as it is, and addGradients() makes NHWC of it.
  std::vector<at::Tensor> backward(std::vector<at::Tensor> outputGradients) override {
    at::Tensor view = channelMeansBackward(addGradients(std::move(outputGradients)), sizes_);
    const bool readAsItIs = view.is_cpu() && format_ == at::MemoryFormat::ChannelsLast;
    return {readAsItIs ? std::move(view) : view.contiguous(format_)};
  }

 private:
  const at::MemoryFormat format_;
  std::vector<int64_t> sizes_;  // of the input
};

}  // namespace

std::unique_ptr<PlannedOperation> makePlannedMultiply(const PlannedBinding&) { return std::make_unique<Multiply>(); }

std::unique_ptr<PlannedOperation> makePlannedGlobalAveragePool(const PlannedBinding& binding) {
  return std::make_unique<GlobalAveragePool>(binding.format);
}

}  // namespace tandem
