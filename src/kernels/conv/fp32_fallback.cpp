#include <ATen/ATen.h>

#include <utility>

#include "kernels/conv/algorithms.h"

namespace tandem {
namespace {

at::Tensor wide(const at::Tensor& tensor) { return tensor.defined() ? tensor.to(at::kFloat) : tensor; }

at::Tensor wideLike(const at::Tensor& tensor) { return tensor.defined() ? at::empty_like(tensor, at::kFloat) : tensor; }

class WidenedConvolution final : public Convolution {
 public:
  WidenedConvolution(const ConvolutionParameters& parameters, ConvolutionParameters wideParameters,
                     std::unique_ptr<Convolution> convolution)
      : p_(parameters), wide_(std::move(wideParameters)), convolution_(std::move(convolution)) {}

  void weightsChanged() override { current_ = false; }

  at::Tensor forward(const at::Tensor& x) override {
    bringWeights();
    return convolution_->forward(wide(x)).to(x.scalar_type());
  }

  at::Tensor backwardInput(const at::Tensor& x, const at::Tensor& dy) override {
    bringWeights();
    return convolution_->backwardInput(wideLike(x), wide(dy)).to(x.scalar_type());
  }

  void backwardParameters(const at::Tensor& x, const at::Tensor& dy) override {
    convolution_->backwardParameters(wide(x), wide(dy));
    p_.weightGradient.copy_(wide_.weightGradient);
    if (p_.biasGradient.defined()) p_.biasGradient.copy_(wide_.biasGradient);
  }

 private:
  void bringWeights() {
    if (std::exchange(current_, true)) return;
    wide_.weight.copy_(p_.weight);
    if (p_.bias.defined()) wide_.bias.copy_(p_.bias);
    convolution_->weightsChanged();
  }

  ConvolutionParameters p_, wide_;
  std::unique_ptr<Convolution> convolution_;
  bool current_ = false;
};

}  // namespace

std::unique_ptr<Convolution> makeWidenedConvolution(const ConvolutionGeometry& geometry, const ConvolutionParameters& p,
                                                    MakeConvolution make) {
  const ConvolutionParameters wideParameters{wideLike(p.weight), wideLike(p.bias), wideLike(p.weightGradient),
                                             wideLike(p.biasGradient)};
  auto convolution = make(geometry, wideParameters);
  if (!convolution) return nullptr;
  return std::make_unique<WidenedConvolution>(p, wideParameters, std::move(convolution));
}

}  // namespace tandem
