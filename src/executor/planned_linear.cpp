#include "executor/planned_linear.h"

#include <ATen/ATen.h>

#include <utility>
#include <vector>

#include "kernels/conv/convolution.h"
#include "kernels/norm/norm_act.h"
#include "kernels/tensor/pixels.h"

namespace tandem {
namespace {

/// A row is what one product maps: all values of an image.
struct OfImages {
  static at::Tensor rows(const at::Tensor& value) { return value.dim() == 2 ? value : value.flatten(1); }
  static at::Tensor value(at::Tensor rows, at::IntArrayRef) { return rows; }
  static at::Tensor inputGradient(const at::Tensor& rows, at::IntArrayRef sizes) { return rows.view(sizes); }
};

/// The channels of a pixel.
struct OfPixels {
  static at::Tensor rows(const at::Tensor& value) { return channelsBehind(value).reshape({-1, value.size(1)}); }
  static at::Tensor value(const at::Tensor& rows, at::IntArrayRef sizes) {
    return channelsBefore(rows.view({sizes[0], sizes[2], sizes[3], rows.size(1)}));
  }
  static at::Tensor inputGradient(const at::Tensor& rows, at::IntArrayRef sizes) { return value(rows, sizes); }
};

/// A product with the weight for each row. If the processor has no bf16 products, bf16 is computed in fp32 and rounded
/// once, as in convolutions: ATen's own bf16 sums take minutes there.
template <class Of>
class Linear final : public PlannedOperation {
 public:
  explicit Linear(const PlannedBinding& binding)
      : b_(binding),
        widens_(binding.weight.is_cpu() && binding.weight.scalar_type() == at::kBFloat16 && convolutionsWidenBf16()) {}

  at::Tensor forward(std::span<const at::Tensor> inputs, PassMode mode) override {
    const at::Tensor input = Of::rows(inputs[0]);
    at::Tensor output = at::linear(wide(input), wide(b_.weight), wide(b_.bias)).to(input.scalar_type());
    if (mode.gradients) keepRows(input, inputs[0].sizes());
    return Of::value(std::move(output), inputs[0].sizes());
  }

  void keep(std::span<const at::Tensor> inputs, const at::Tensor&) override {
    keepRows(Of::rows(inputs[0]), inputs[0].sizes());
  }

  std::vector<at::Tensor> backward(std::vector<at::Tensor> outputGradients) override {
    const at::Tensor gradient = Of::rows(addGradients(std::move(outputGradients)));
    if (widens_) {
      b_.weightGradient.copy_(at::mm(wide(gradient).t(), wide(input_)));
    } else {
      at::mm_out(b_.weightGradient, gradient.t(), input_);
    }
    if (b_.bias.defined()) at::sum_out(b_.biasGradient, gradient, at::IntArrayRef{0});
    input_.reset();
    if (!b_.wantsGradient[0]) return {at::Tensor()};
    return {Of::inputGradient(at::mm(wide(gradient), wide(b_.weight)).to(gradient.scalar_type()), sizes_)};
  }

 private:
  at::Tensor wide(const at::Tensor& tensor) const {
    return widens_ && tensor.defined() ? tensor.to(at::kFloat) : tensor;
  }
  void keepRows(const at::Tensor& rows, at::IntArrayRef sizes) { input_ = rows, sizes_ = sizes.vec(); }

  PlannedBinding b_;
  const bool widens_;
  at::Tensor input_;            // as rows
  std::vector<int64_t> sizes_;  // of the input as a value
};

}  // namespace

std::unique_ptr<PlannedOperation> makePlannedLinear(const PlannedBinding& binding) {
  return std::make_unique<Linear<OfImages>>(binding);
}

std::unique_ptr<PlannedOperation> makePlannedChannelLinear(const PlannedBinding& binding) {
  return std::make_unique<Linear<OfPixels>>(binding);
}

}  // namespace tandem
