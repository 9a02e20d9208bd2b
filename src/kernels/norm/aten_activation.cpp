#include "kernels/norm/aten_activation.h"

#include <ATen/ATen.h>

namespace tandem {

void activate(at::Tensor& y, Activation activation) {
  switch (activation) {
    case Activation::none:
      return;
    case Activation::relu:
      y.relu_();
      return;
    case Activation::relu6:
      y.clamp_(0, 6);
      return;
    case Activation::silu:
      at::silu_(y);
      return;
    case Activation::hardSwish:
      at::hardswish_(y);
      return;
  }
}

at::Tensor activationGradient(const at::Tensor& dy, const at::Tensor& value, Activation activation) {
  switch (activation) {
    case Activation::none:
      break;
    case Activation::relu:
      return at::threshold_backward(dy, value, 0);
    case Activation::relu6:
      return at::hardtanh_backward(dy, value, 0, 6);
    case Activation::silu:
      return at::silu_backward(dy, value);
    case Activation::hardSwish:
      return at::hardswish_backward(dy, value);
  }
  return dy;
}

}  // namespace tandem
