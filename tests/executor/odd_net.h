#pragma once

#include "graph/graph.h"

namespace tandem {

inline Attributes conv(int64_t outputs, int64_t kernel, int64_t stride, Padding padding, bool bias) {
  return {.outputs = outputs,
          .kernelH = kernel,
          .kernelW = kernel,
          .strideH = stride,
          .strideW = stride,
          .padding = padding,
          .bias = bias};
}

/// Values with several readers, sums of three, a ReLU behind a sum without batch-norm, strided views as residual, of a
/// convolution and of a batch-norm, unequal padding, dropout. `width` times as many channels as the least.
inline Graph oddNet(int64_t width) {
  Graph net({3, 15, 15});
  NodeId x = net.add("conv", "conv1", {net.input()}, conv(8 * width, 3, 2, {0, 1, 0, 1}, false));
  const NodeId norm = net.add("batch_norm", "bn1", {x});
  const NodeId relu = net.add("relu", "relu1", {norm});
  const NodeId second = net.add("conv", "conv2", {relu}, conv(8 * width, 1, 1, {}, true));
  x = net.add("add", "add1", {norm, second, relu});
  x = net.add("relu", "relu2", {x});
  const NodeId third =
      net.add("batch_norm", "bn2", {net.add("conv", "conv3", {x}, conv(8 * width, 3, 1, Padding::all(1), false))});
  x = net.add("relu", "relu3", {net.add("add", "add2", {x, third})});
  const NodeId main =
      net.add("batch_norm", "bn3", {net.add("conv", "conv4", {x}, conv(12 * width, 3, 1, Padding::all(1), false))});
  const NodeId skip = net.add("batch_norm", "bn4", {net.add("conv", "conv5", {x}, conv(12 * width, 1, 1, {}, false))});
  x = net.add("relu", "relu4", {net.add("add", "add3", {main, skip})});
  const NodeId strided = net.add("subsample", "half", {x}, {.strideH = 2, .strideW = 2});
  const NodeId halved =
      net.add("batch_norm", "bn5", {net.add("conv", "conv6", {x}, conv(12 * width, 3, 2, Padding::all(1), false))});
  x = net.add("relu", "relu6", {net.add("add", "add4", {halved, strided})});
  const NodeId seventh = net.add("conv", "conv7", {strided}, conv(12 * width, 3, 1, Padding::all(1), false));
  x = net.add("add", "add5", {x, seventh, net.add("batch_norm", "bn6", {strided})});
  x = net.add("max_pool", "pool", {x}, {.kernelH = 2, .kernelW = 2, .strideH = 2, .strideW = 2});
  x = net.add("dropout", "drop", {x}, {.probability = 0.3});
  x = net.add("flatten", "flatten", {x});
  x = net.add("linear", "fc1", {x}, {.outputs = 20});
  x = net.add("relu", "relu5", {x});
  net.add("linear", "fc2", {x}, {.outputs = 7, .bias = false});
  return net;
}

}  // namespace tandem
