#include "executor/executor.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <set>

#include "base/catalog.h"
#include "base/text.h"
#include "executor/aten_ops.h"
#include "graph/operation.h"
#include "models/model.h"
#include "support/test_devices.h"

namespace tandem {
namespace {

/// An executor, and where it runs.
struct Way {
  const ExecutorEntry* executor;
  at::Device device;
  std::string name() const { return concat(executor->name, " on ", device.str()); }
};

std::vector<Way> ways() {
  std::vector<Way> all;
  for (const at::Device device : testDevices()) {
    for (const ExecutorEntry& executor : executors()) all.push_back({&executor, device});
  }
  return all;
}

struct Bound {
  Graph graph;
  at::Device device;
  FlatBuffers buffers;
  std::unique_ptr<Executor> executor;

  Bound(Graph made, const Way& way, bool flatOutputs = true)
      : graph(std::move(made)),
        device(way.device),
        buffers(parameterSpecs(graph), find(precisions(), "fp32", "precision"), device, at::MemoryFormat::ChannelsLast),
        executor(way.executor->make({.device = device, .dropoutSeed = 7, .flatOutputs = flatOutputs})) {
    for (int i = 0; i < buffers.parameters(); ++i) {
      buffers.masterView(i).copy_(0.1 *
                                  at::sin(at::arange(buffers.masterView(i).numel())).view_as(buffers.masterView(i)));
    }
    buffers.refreshWeights();
    executor->bind(graph, buffers);
  }

  Batch batch(int64_t n) const {
    const ImageShape shape = graph.node(graph.input()).shape;
    const at::Tensor images =
        at::sin(at::arange(n * shape.count())).view({n, shape.channels, shape.height, shape.width});
    return {images.to(device).contiguous(at::MemoryFormat::ChannelsLast),
            at::zeros({n}, at::device(device).dtype(at::kLong)), 0, nullptr};
  }
};

TEST(Executor, everyOperationOfTheGraphCatalogHasACall) {
  for (const Operation& operation : operations()) {
    if (operation.name == "input") continue;
    EXPECT_NE(atenOp(operation.name), nullptr) << operation.name;
  }
}

TEST(Executor, reportsEachSliceOnceInTheOrderOfTheBuffers) {
  for (const Way& way : ways()) {
    Bound bound(buildModel("resnet20", {}), way);
    const auto outputs = bound.executor->forward(bound.batch(2));
    std::vector<int> order;
    const at::Tensor gradient = at::ones_like(outputs[0]);
    bound.executor->backward({&gradient, 1}, [&](std::span<const Slice> slices) {
      for (const Slice slice : slices) order.push_back(bound.buffers.parametersIn(slice).at(0));
    });
    EXPECT_EQ(order.size(), static_cast<size_t>(bound.buffers.parameters())) << way.name();
    EXPECT_EQ(std::set<int>(order.begin(), order.end()).size(), order.size()) << way.name();
    int64_t outOfOrder = 0;
    for (size_t i = 1; i < order.size(); ++i) outOfOrder += std::abs(order[i] - order[i - 1]) > 2 ? 1 : 0;
    EXPECT_EQ(outOfOrder, 0) << "buffers are laid out in the order of backward, but for the pair within one node";
  }
}

TEST(Executor, gradientsDoNotAddUpOverSteps) {
  for (const Way& way : ways()) {
    SCOPED_TRACE(way.name());
    Bound bound(buildModel("resnet20", {}), way);
    std::array<at::Tensor, 2> seen;
    for (at::Tensor& gradients : seen) {
      const auto outputs = bound.executor->forward(bound.batch(2));
      const at::Tensor gradient = at::ones_like(outputs[0]);
      bound.executor->backward({&gradient, 1}, [](auto) {});
      gradients = bound.buffers.gradient(bound.buffers.whole(0)).clone();
    }
    EXPECT_GT(seen[0].norm().item<float>(), 0);
    EXPECT_LE(relativeError(seen[1], seen[0]), 1e-5);
  }
}

TEST(Executor, outputsMayKeepShapeAndLayout) {
  constexpr auto channelsLast = at::MemoryFormat::ChannelsLast;
  Graph graph({3, 6, 5});
  graph.add("conv", "conv", {graph.input()}, {.outputs = 8, .kernelH = 3, .kernelW = 3});
  for (const Way& way : ways()) {
    SCOPED_TRACE(way.name());
    Bound rows(graph, way), whole(graph, way, /*flatOutputs=*/false);
    const at::Tensor flat = rows.executor->forward(rows.batch(2))[0];
    const at::Tensor output = whole.executor->forward(whole.batch(2))[0];
    EXPECT_EQ(output.sizes(), (std::vector<int64_t>{2, 8, 4, 3}));
    EXPECT_TRUE(output.is_contiguous(channelsLast));
    EXPECT_TRUE(flat.equal(output.flatten(1)));
    const at::Tensor gradient = at::cos(output), flatGradient = gradient.flatten(1);
    whole.executor->backward({&gradient, 1}, [](auto) {});
    rows.executor->backward({&flatGradient, 1}, [](auto) {});
    EXPECT_LE(relativeError(whole.buffers.gradientView(0), rows.buffers.gradientView(0)), 1e-5);
  }
}

TEST(Executor, evaluationUsesRunningStatisticsAndLeavesThemAlone) {
  for (const Way& way : ways()) {
    SCOPED_TRACE(way.name());
    Bound bound(buildModel("resnet20", {}), way);
    bound.executor->setTraining(false);
    const at::Tensor before = bound.executor->statistics().front().second.clone();
    const at::Tensor first = bound.executor->forward(bound.batch(3))[0].clone();
    EXPECT_TRUE(before.equal(bound.executor->statistics().front().second));
    bound.executor->setTraining(true);
    const at::Tensor trained = bound.executor->forward(bound.batch(3))[0].clone();
    EXPECT_FALSE(first.allclose(trained));
    EXPECT_FALSE(before.equal(bound.executor->statistics().front().second));
  }
}

TEST(Executor, backwardWithoutKeptGradientsIsRefused) {
  for (const Way& way : ways()) {
    SCOPED_TRACE(way.name());
    Bound bound(buildModel("resnet20", {}), way);
    bound.executor->setGradients(false);
    const auto outputs = bound.executor->forward(bound.batch(2));
    const at::Tensor gradient = at::ones_like(outputs[0]);
    EXPECT_THROW(bound.executor->backward({&gradient, 1}, [](auto) {}), InternalError);
  }
}

Graph twoHeaded() {
  Graph graph({4, 1, 1});
  const NodeId shared = graph.add("linear", "shared", {graph.input()}, {.outputs = 4});
  graph.addAuxiliary(graph.add("linear", "head", {shared}, {.outputs = 3}), 0.5);
  graph.add("linear", "fc", {shared}, {.outputs = 3});
  return graph;
}

TEST(Executor, trainingGivesAuxiliaryValuesAndEvaluationTheirParametersNoGradient) {
  for (const Way& way : ways()) {
    SCOPED_TRACE(way.name());
    Bound bound(twoHeaded(), way);
    for (const bool training : {true, false}) {
      bound.executor->setTraining(training);
      const auto outputs = bound.executor->forward(bound.batch(2));
      ASSERT_EQ(outputs.size(), training ? 2U : 1U);
      int64_t reported = 0;
      bound.executor->backward(std::vector<at::Tensor>(outputs.size(), at::ones({2, 3}, way.device)),
                               [&](auto slices) { reported += std::ssize(slices); });
      EXPECT_EQ(reported, bound.buffers.parameters());
      const at::Tensor ofHead = bound.buffers.gradientView(bound.buffers.indexOf("head.weight"));
      EXPECT_EQ(ofHead.norm().item<float>() > 0, training);
      EXPECT_GT(bound.buffers.gradientView(bound.buffers.indexOf("shared.weight")).norm().item<float>(), 0);
    }
  }
}

/// Its auxiliary value is read on, by what the planned executor would otherwise make one call of both.
Graph headInTheMiddle() {
  Graph graph({4, 3, 3});
  const NodeId conv = graph.add("conv", "conv", {graph.input()}, {.outputs = 5});
  const NodeId norm = graph.add("batch_norm", "norm", {conv});
  graph.addAuxiliary(norm, 0.5);
  graph.add("linear", "fc", {graph.add("flatten", "flat", {graph.add("relu", "relu", {norm})})}, {.outputs = 3});
  return graph;
}

TEST(Executor, anAuxiliaryValueMayBeReadOn) {
  std::vector<std::vector<at::Tensor>> gradients;
  for (const Way& way : ways()) {
    SCOPED_TRACE(way.name());
    Bound bound(headInTheMiddle(), way);
    const auto outputs = bound.executor->forward(bound.batch(2));
    ASSERT_EQ(outputs.size(), 2U);
    EXPECT_LT(outputs[1].min().item<float>(), 0);  // not yet by ReLU
    const at::Tensor ofHead = at::sin(at::arange(90)).view({2, 45});
    bound.executor->backward(std::vector<at::Tensor>{at::ones({2, 3}).to(way.device), ofHead.to(way.device)},
                             [](auto) {});
    std::vector<at::Tensor>& own = gradients.emplace_back();
    for (int i = 0; i < bound.buffers.parameters(); ++i) own.push_back(bound.buffers.gradientView(i).cpu().clone());
    bound.executor->setTraining(false);
    EXPECT_EQ(bound.executor->forward(bound.batch(2)).size(), 1U);
  }
  for (const auto& other : gradients) {
    for (size_t i = 0; i < other.size(); ++i) {
      EXPECT_GT(other[i].norm().item<float>(), 0);
      EXPECT_TRUE(other[i].allclose(gradients[0][i], 1e-4, 1e-5)) << i;
    }
  }
}

TEST(Executor, stochasticDepthKeepsWholeImagesAndScales) {
  for (const Way& way : ways()) {
    Graph graph({2, 3, 3});
    graph.add("stochastic_depth", "drop", {graph.input()}, {.probability = 0.25});
    SCOPED_TRACE(way.name());
    Bound bound(std::move(graph), way);
    bound.executor->setGradients(false);
    Batch batch = bound.batch(1000);
    batch.images.fill_(1);
    const at::Tensor output = bound.executor->forward(batch)[0];
    const at::Tensor means = output.mean(1);
    EXPECT_NEAR(means.ne(0).to(at::kFloat).mean().item<float>(), 0.75, 0.06);
    EXPECT_TRUE(means.ne(0).logical_and((means - 1 / 0.75).abs().gt(1e-5)).logical_not().all().item<bool>());
    bound.executor->setTraining(false);
    EXPECT_TRUE(bound.executor->forward(batch)[0].eq(1).all().item<bool>());
  }
}

TEST(Executor, dropoutKeepsTheShareAndScales) {
  for (const Way& way : ways()) {
    Graph graph({64, 8, 8});
    graph.add("dropout", "drop", {graph.input()}, {.probability = 0.25});
    SCOPED_TRACE(way.name());
    Bound bound(std::move(graph), way);
    bound.executor->setGradients(false);
    Batch batch = bound.batch(4);
    batch.images.fill_(1);
    const at::Tensor output = bound.executor->forward(batch)[0];
    EXPECT_NEAR(output.ne(0).to(at::kFloat).mean().item<float>(), 0.75, 0.02);
    EXPECT_NEAR(output.max().item<float>(), 1 / 0.75, 1e-5);
    bound.executor->setTraining(false);
    EXPECT_TRUE(bound.executor->forward(batch)[0].eq(1).all().item<bool>());
  }
}

}  // namespace
}  // namespace tandem
