// The planned executor beside the autograd one, on graphs with what the models have not.
#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <map>
#include <stdexcept>

#include "base/catalog.h"
#include "device/memory_layout.h"
#include "executor/changed_graph.h"
#include "executor/executor.h"
#include "executor/model_subject.h"
#include "executor/odd_net.h"
#include "support/precisions.h"
#include "support/relative_error.h"
#include "support/stand_in_engines.h"
#include "support/test_devices.h"

namespace tandem {
namespace {

struct Trained {
  at::Tensor output;
  std::map<std::string, at::Tensor> gradients;  // by the parameter's name
  std::vector<std::pair<std::string, at::Tensor>> statistics;
};

constexpr int64_t images = 64;
constexpr int steps = 2;

/// `options`: of the precision's type.
Trained run(const Graph& graph, std::string_view executor, const Precision& row, ExecutorOptions options,
            bool training) {
  FlatBuffers buffers = buffersFor(graph, row, options);
  for (int i = 0; i < buffers.parameters(); ++i) {
    const at::Tensor view = buffers.masterView(i);
    const at::Tensor values = at::sin(at::arange(view.numel()) + i).view_as(view) * (view.dim() > 1 ? 0.2 : 0.7);
    view.copy_(values.to(at::kBFloat16));  // the same numbers in every precision
  }
  buffers.refreshWeights();
  options.dropoutSeed = 7;
  const auto made = find(executors(), executor, "executor").make(options);
  made->bind(graph, buffers);
  made->setTraining(training);
  at::manual_seed(3);
  const at::Tensor pixels = at::randn({images, 3, 15, 15})
                                .to(at::kBFloat16)
                                .to(options.device, row.compute)
                                .contiguous(options.kernels.layout.format);
  const at::Tensor labels = at::zeros({images}, at::device(options.device).dtype(at::kLong));
  Trained trained;
  for (int step = 0; step < steps; ++step) {
    const at::Tensor output = made->forward({pixels, labels, 0, nullptr})[0];
    const at::Tensor wave = at::cos(at::arange(output.numel())).view_as(output).to(at::kBFloat16);
    const at::Tensor gradient = wave.to(options.device, row.compute);
    made->backward({&gradient, 1}, [](auto) {});
    trained.output = output.clone();
  }
  for (int i = 0; i < buffers.parameters(); ++i)
    trained.gradients[buffers.spec(i).name] = buffers.gradientView(i).clone().reshape(buffers.spec(i).shape);
  trained.statistics = made->statistics();
  return trained;
}

/// At most twice what autograd in the same precision is away from fp64 (both round some sixteen values on the longest
/// path), in 16 bits four times (of means that cancel, roundings leave up to 2.8 times as much in one as in the other,
/// by chance: measured with twelve seeds); but 1e-5 of the norm in fp32 and two roundings in 16 bits are always
/// allowed.
void expectClose(const at::Tensor& planned, const at::Tensor& autograd, const at::Tensor& exact, at::ScalarType type) {
  const bool isFp32 = type == at::kFloat;
  const double always = isFp32 ? 1e-5 : 2 * unitOf(type), byChance = isFp32 ? 2 : 4;
  EXPECT_LE(relativeError(planned, exact), std::max(always, byChance * relativeError(autograd, exact)));
}

/// 16 bits: all gradients as one vector. A value near zero that falls on the other side of a ReLU moves a small
/// tensor's gradient by percents, in either executor.
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

/// fp64 is the CPU's.
void expectEqualsAutograd(const Graph& graph, const Precision& precision, const ExecutorOptions& options,
                          bool training) {
  SCOPED_TRACE(concat(options.device.str(), ' ', precision.name, ' ', options.kernels.layout.name,
                      training ? ", training" : ", evaluation"));
  const bool isFp32 = precision.compute == at::kFloat;
  const LayoutEntry plain{"", "", options.kernels.layout.format};
  const Trained planned = run(graph, "planned", precision, options, training);
  const ExecutorOptions same{.compute = precision.compute, .kernels = {.layout = plain}, .device = options.device};
  const Trained autograd = run(graph, "autograd", precision, same, training);
  const Trained exact =
      run(graph, "autograd", doublePrecision, {.compute = at::kDouble, .kernels = {.layout = plain}}, training);
  expectClose(planned.output, autograd.output, exact.output, precision.compute);
  expectClose(joined(planned), joined(autograd), joined(exact), precision.compute);
  for (const auto& [name, gradient] : exact.gradients) {
    SCOPED_TRACE(name);
    if (isFp32) expectClose(planned.gradients.at(name), autograd.gradients.at(name), gradient, precision.compute);
  }
  EXPECT_EQ(planned.statistics.size(), exact.statistics.size());
  for (const auto& [name, value] : exact.statistics) {
    SCOPED_TRACE(name);
    expectClose(statisticOf(planned, name), statisticOf(autograd, name), value, precision.compute);
  }
}

/// A GPU draws other numbers for dropout than the CPU, by which it is compared.
Graph comparableNet(int64_t width, at::Device device) {
  return device.is_cpu() ? oddNet(width) : golden::changed(oddNet(width), golden::without("drop"));
}

// Of 8 and 12 channels none is blocked, of 32 and 48 all are.
TEST(PlannedExecutor, EqualsTheAutogradOne) {
  for (const at::Device device : testDevices()) {
    for (const int64_t width : {1, 4}) {
      const Graph graph = comparableNet(width, device);
      for (const Precision& precision : precisionsOn(device)) {
        for (const LayoutEntry& layout : layouts()) {
          if (!serves(find(executors(), "planned", "executor"), layout, device, precision.compute)) continue;
          const ExecutorOptions options{.compute = precision.compute, .kernels = {.layout = layout}, .device = device};
          for (const bool training : {true, false}) expectEqualsAutograd(graph, precision, options, training);
        }
      }
    }
  }
}

TEST(PlannedExecutor, ActivationsEqualTheAutogradOnes) {
  for (const char* activation :
       {"relu", "relu6", "sigmoid", "tanh", "silu", "gelu", "gelu_tanh", "hard_sigmoid", "hard_swish"}) {
    SCOPED_TRACE(activation);
    Graph net({3, 15, 15});
    const NodeId x = net.add("conv", "conv", {net.input()}, conv(8, 3, 1, Padding::all(1), true));
    net.add("linear", "fc", {net.add("flatten", "flatten", {net.add(activation, "act", {x})})}, {.outputs = 3});
    for (const at::Device device : testDevices()) {
      for (const Precision& precision : precisionsOn(device)) {
        expectEqualsAutograd(net, precision, {.compute = precision.compute, .device = device}, /*training=*/true);
      }
    }
  }
}

// Other masks would change the output by about its size.
TEST(PlannedExecutor, DropsWhatTheAutogradOneDrops) {
  const Graph graph = oddNet(1);
  for (const at::Device device : testDevices()) {
    const ExecutorOptions options{.device = device};
    const Trained planned = run(graph, "planned", precisions().front(), options, /*training=*/true);
    const Trained autograd = run(graph, "autograd", precisions().front(), options, /*training=*/true);
    EXPECT_LE(relativeError(planned.output, autograd.output), 1e-3) << device;
  }
}

/// All convolutions by ATen, but those whose batch-norm asks for sums: by a stand-in engine that takes them.
ExecutorOptions withStats(const Graph& graph, at::ScalarType compute, EngineLog& log) {
  const std::string aten(atenName);
  ExecutorOptions options{.compute = compute};
  options.kernels.engines.assign(graph.nodes().size(), {images, {aten, aten, aten}, "plain"});
  options.plansOf = [&log](const ConvolutionProblem& problem) -> std::unique_ptr<ExecutionPlans> {
    return std::make_unique<StandInPlans>(problem, log);
  };
  return options;
}

TEST(PlannedExecutor, WithSumsFromConvolutionsItEqualsTheAutogradOne) {
  const Graph graph = oddNet(1);
  for (const Precision& precision : precisionsOnCpu()) {
    EngineLog log;
    const ExecutorOptions options = withStats(graph, precision.compute, log);
    expectEqualsAutograd(graph, precision, options, /*training=*/true);
    EXPECT_EQ(log.sums, 4 * steps) << "bn2 to bn5; conv1 has unequal padding, bn6 reads no convolution";
    expectEqualsAutograd(graph, precision, options, /*training=*/false);
    EXPECT_EQ(log.sums, 4 * steps) << "in evaluation nobody asks";
  }
}

/// conv, batch_norm + relu, and a layer.
Graph oneNorm() {
  Graph net({3, 15, 15});
  const NodeId x = net.add("conv", "conv", {net.input()}, conv(8, 3, 1, Padding::all(1), true));
  const NodeId relu = net.add("relu", "relu", {net.add("batch_norm", "bn", {x})});
  net.add("linear", "fc", {net.add("flatten", "flatten", {relu})}, {.outputs = 3});
  return net;
}

// Sums as if all outputs were larger by 1 move the mean by 1, and the variance not at all.
TEST(PlannedExecutor, TheBatchNormTakesTheSumsThatTheConvolutionLeft) {
  const Graph graph = oneNorm();
  const auto statisticsWith = [&](double shift) {
    EngineLog log;
    log.sumsShift = shift;
    return run(graph, "planned", precisions().front(), withStats(graph, at::kFloat, log), true);
  };
  const Trained right = statisticsWith(0), shifted = statisticsWith(1);
  const double twice = 1 - 0.9 * 0.9;  // after two steps with momentum 0.1
  EXPECT_LE(relativeError(statisticOf(shifted, "bn.running_mean"), statisticOf(right, "bn.running_mean") + twice),
            1e-5);
  EXPECT_LE(relativeError(statisticOf(shifted, "bn.running_var"), statisticOf(right, "bn.running_var")), 1e-5);
  EXPECT_GT(relativeError(shifted.output, right.output), 0.1);
}

}  // namespace
}  // namespace tandem
