// The planned executor beside the autograd one, on graphs with what the models have not.
#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <map>
#include <stdexcept>

#include "base/catalog.h"
#include "device/layout.h"
#include "executor/model_subject.h"
#include "support/relative_error.h"

namespace tandem {
namespace {

Attributes conv(int64_t outputs, int64_t kernel, int64_t stride, Padding padding, bool bias) {
  return {.outputs = outputs,
          .kernelH = kernel,
          .kernelW = kernel,
          .strideH = stride,
          .strideW = stride,
          .padding = padding,
          .bias = bias};
}

/// Values with several readers, sums of three, a ReLU behind a sum without batch-norm, strided views as
/// residual, of a convolution and of a batch-norm, unequal padding, dropout. `width` times as many channels as the
/// least.
Graph oddNet(int64_t width) {
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

struct Trained {
  at::Tensor output;
  std::map<std::string, at::Tensor> gradients;  // by the parameter's name
  std::vector<std::pair<std::string, at::Tensor>> statistics;
};

Trained run(const Graph& graph, std::string_view executor, const Precision& row, const LayoutEntry& layout,
            bool training) {
  FlatBuffers buffers = buffersFor(graph, row, {.compute = row.compute, .layout = layout});
  for (int i = 0; i < buffers.parameters(); ++i) {
    const at::Tensor view = buffers.masterView(i);
    const at::Tensor values = at::sin(at::arange(view.numel()) + i).view_as(view) * (view.dim() > 1 ? 0.2 : 0.7);
    view.copy_(values.to(at::kBFloat16));  // the same numbers in every precision
  }
  buffers.refreshWeights();
  const auto made =
      find(executors(), executor, "executor").make({.compute = row.compute, .layout = layout, .dropoutSeed = 7});
  made->bind(graph, buffers);
  made->setTraining(training);
  at::manual_seed(3);
  const at::Tensor images = at::randn({64, 3, 15, 15}).to(at::kBFloat16).to(row.compute).contiguous(layout.format);
  Trained trained;
  for (int step = 0; step < 2; ++step) {
    const at::Tensor output = made->forward({images, at::zeros({64}, at::kLong), 0, nullptr})[0];
    const at::Tensor gradient = at::cos(at::arange(output.numel())).view_as(output).to(at::kBFloat16).to(row.compute);
    made->backward({&gradient, 1}, [](Slice) {});
    trained.output = output.clone();
  }
  for (int i = 0; i < buffers.parameters(); ++i)
    trained.gradients[buffers.spec(i).name] = buffers.gradientView(i).clone().reshape(buffers.spec(i).shape);
  trained.statistics = made->statistics();
  return trained;
}

/// At most twice what autograd in the same precision is away from fp64 (both round some sixteen values on the longest
/// path); but 1e-5 of the norm in fp32 and two roundings in bf16 are always allowed.
void expectClose(const at::Tensor& planned, const at::Tensor& autograd, const at::Tensor& exact, bool isFp32) {
  EXPECT_LE(relativeError(planned, exact), std::max(isFp32 ? 1e-5 : 0x1p-8, 2 * relativeError(autograd, exact)));
}

/// bf16: all gradients as one vector. A value near zero that falls on the other side of a ReLU moves a small tensor's
/// gradient by percents, in either executor.
at::Tensor joined(const Trained& trained) {
  std::vector<at::Tensor> all;
  for (const auto& [name, gradient] : trained.gradients) all.push_back(gradient.flatten().to(at::kDouble));
  return at::cat(all);
}

const at::Tensor& statisticOf(const Trained& trained, const std::string& name) {
  for (const auto& [other, value] : trained.statistics) {
    if (other == name) return value;
  }
  throw std::out_of_range(name);
}

void expectEqualsAutograd(const Graph& graph, const Precision& precision, const LayoutEntry& layout, bool training) {
  SCOPED_TRACE(concat(precision.name, ' ', layout.name, training ? ", training" : ", evaluation"));
  const bool isFp32 = precision.compute == at::kFloat;
  const LayoutEntry plain{"", "", layout.format};
  const Trained planned = run(graph, "planned", precision, layout, training);
  const Trained autograd = run(graph, "autograd", precision, plain, training);
  const Trained exact = run(graph, "autograd", doublePrecision, plain, training);
  expectClose(planned.output, autograd.output, exact.output, isFp32);
  expectClose(joined(planned), joined(autograd), joined(exact), isFp32);
  for (const auto& [name, gradient] : exact.gradients) {
    SCOPED_TRACE(name);
    if (isFp32) expectClose(planned.gradients.at(name), autograd.gradients.at(name), gradient, isFp32);
  }
  EXPECT_EQ(planned.statistics.size(), exact.statistics.size());
  for (const auto& [name, value] : exact.statistics) {
    SCOPED_TRACE(name);
    expectClose(statisticOf(planned, name), statisticOf(autograd, name), value, isFp32);
  }
}

// Of 8 and 12 channels none is blocked, of 32 and 48 all are.
TEST(PlannedExecutor, EqualsTheAutogradOne) {
  for (const int64_t width : {1, 4}) {
    const Graph graph = oddNet(width);
    for (const Precision& precision : precisions()) {
      for (const LayoutEntry& layout : layouts()) {
        if (!serves(find(executors(), "planned", "executor"), layout, at::kCPU)) continue;
        for (const bool training : {true, false}) expectEqualsAutograd(graph, precision, layout, training);
      }
    }
  }
}

}  // namespace
}  // namespace tandem
