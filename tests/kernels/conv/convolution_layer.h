#pragma once

#include <ATen/ATen.h>

#include <array>
#include <tuple>

#include "kernels/conv/convolution.h"

namespace tandem {

/// A convolution to be tested.
struct Layer {
  const char* name;
  int64_t images, inputs, outputs, height, width, kernelH, kernelW;
  ConvolutionGeometry geometry;
  bool bias;

  std::array<int64_t, 4> x() const { return {images, inputs, height, width}; }
  std::array<int64_t, 4> weight() const { return {outputs, inputs / geometry.groups, kernelH, kernelW}; }
  std::array<int64_t, 4> y() const {
    const ConvolutionGeometry& g = geometry;
    return {images, outputs, (height + g.top + g.bottom - kernelH) / g.strideH + 1,
            (width + g.left + g.right - kernelW) / g.strideW + 1};
  }
};

/// The result of forward and the gradients of backward.
struct Results {
  at::Tensor y, x, weight, bias;
};

struct LayerTensors {
  at::Tensor x, weight, bias, dy;  // without a bias: undefined
};

/// By ATen in double precision.
inline Results exactResults(const Layer& layer, const LayerTensors& t) {
  const auto wide = [](const at::Tensor& tensor) { return tensor.defined() ? tensor.to(at::kDouble) : tensor; };
  const ConvolutionGeometry& g = layer.geometry;
  const at::Tensor x = at::constant_pad_nd(wide(t.x), {g.left, g.right, g.top, g.bottom});
  const std::array<int64_t, 2> strides{g.strideH, g.strideW}, none{0, 0}, dilation{1, 1};
  const std::array<int64_t, 1> biasSizes{layer.outputs};
  Results r;
  r.y = at::conv2d(x, wide(t.weight), wide(t.bias), strides, none, dilation, g.groups);
  std::tie(r.x, r.weight, r.bias) =
      at::convolution_backward(wide(t.dy), x, wide(t.weight), at::OptionalIntArrayRef(biasSizes), strides, none,
                               dilation, false, none, g.groups, {true, true, true});
  r.x = r.x.slice(2, g.top, g.top + layer.height).slice(3, g.left, g.left + layer.width);
  return r;
}

}  // namespace tandem
