#pragma once

#include <ATen/ATen.h>

#include "kernels/conv/convolution_layer.h"
#include "kernels/conv/nchwc.h"

namespace tandem {

enum class Order { plain, blocked };

/// A layer with one algorithm for all its passes.
struct Case {
  Layer layer;
  at::ScalarType type;
  Order order;
  const ConvolutionAlgorithm* algorithm;

  bool blocksOutput() const { return order == Order::blocked && sides().output; }
  bool blocksInput() const { return order == Order::blocked && sides().input; }
  BlockedSides sides() const { return blockedSides(layer.inputs, layer.outputs, layer.geometry.groups); }

  ConvolutionGeometry geometry() const {
    ConvolutionGeometry geometry = layer.geometry;
    geometry.blockedOutput = blocksOutput();
    return geometry;
  }

  /// The weight's values as FlatBuffers holds them: in blocks of channels where the input has them.
  at::Tensor held(const at::Tensor& weight) const {
    if (!blocksInput() || layer.geometry.groups != 1) return weight;
    at::Tensor view = emptyBlockedWeight(weight.sizes()).to(weight.options());
    view.copy_(weight.contiguous().view(view.sizes()));
    return view;
  }

  /// Whether the algorithm itself serves the layer; if not, `direct` replaces it.
  bool isServed() const {
    const at::Tensor weight = held(at::zeros(layer.weight(), type).contiguous(at::MemoryFormat::ChannelsLast));
    const at::Tensor bias = layer.bias ? at::zeros({layer.outputs}, type) : at::Tensor();
    return algorithm->make(geometry(), {weight, bias, at::empty_like(weight), bias}) != nullptr;
  }
};

}  // namespace tandem
