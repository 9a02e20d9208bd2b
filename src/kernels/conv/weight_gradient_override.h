#pragma once

#include <memory>
#include <utility>

#include "kernels/conv/convolution.h"

namespace tandem {

/// Base of convolutions with their own computation of the parameters' gradients; the other passes are direct.
class WeightGradientBy : public Convolution {
 public:
  WeightGradientBy(const ConvolutionGeometry& geometry, const ConvolutionParameters& parameters,
                   std::unique_ptr<Convolution> direct)
      : g_(geometry), p_(parameters), direct_(std::move(direct)) {}

  void weightsChanged() final { direct_->weightsChanged(); }
  at::Tensor forward(const at::Tensor& x) final { return direct_->forward(x); }
  at::Tensor backwardInput(const at::Tensor& x, const at::Tensor& dy) final { return direct_->backwardInput(x, dy); }

 protected:
  ConvolutionGeometry g_;
  ConvolutionParameters p_;

 private:
  std::unique_ptr<Convolution> direct_;
};

}  // namespace tandem
