#include <gtest/gtest.h>

#include <ostream>

#include "kernels/conv/convolution.h"
#include "run/equivalence_team.h"
#include "run/loss_curve.h"
#include "support/precisions.h"

namespace tandem::equivalence {
namespace {

constexpr int64_t curveSteps = 30;

NodeId convNorm(Graph& net, const std::string& name, NodeId from, int64_t outputs) {
  return net.add("batch_norm", name + ".bn", {net.add("conv", name, {from}, conv3x3(outputs, false))});
}

/// With everything that the planned executor fuses, of channels that can be blocked.
Graph residualNet() {
  Graph net({3, imageSize, imageSize});
  NodeId x = net.add("relu", "relu1", {convNorm(net, "conv1", net.input(), 16)});
  const NodeId branch = net.add("relu", "relu2", {convNorm(net, "conv2", x, 32)});
  x = net.add("add", "add", {convNorm(net, "conv3", branch, 32), convNorm(net, "conv4", x, 32)});
  x = net.add("max_pool", "pool", {net.add("relu", "relu3", {x})}, pool2x2());
  x = net.add("flatten", "flatten", {net.add("global_avg_pool", "gap", {x})});
  net.add("linear", "fc", {x}, {.outputs = classes});
  return net;
}

/// Losses of one replica that learns 100 images by heart.
std::vector<double> curve(const Graph& net, const Precision& precision, const ExecutorEntry& executor,
                          const LayoutEntry& layout) {
  ReplicaSetOptions options = replicaSetOptions({.graph = &net,
                                                 .strategy = &find(strategies(), "replicated", "strategy"),
                                                 .precision = std::string(precision.name),
                                                 .executor = std::string(executor.name),
                                                 .layout = layout});
  options.optimizer.learningRate = 0.01;
  std::vector<double> losses;
  ReplicaSet(options).run([&](ReplicaSet::Member& member) {
    for (int64_t step = 0; step < curveSteps; ++step) member.step();
    losses = member.losses();
  });
  return losses;
}

/// Stated before any run. Two executors round differently, and in 30 small steps that does not grow much: fp32 1e-4,
/// some thousand roundings; in 16 bits two roundings of the loss's own size, bf16 2^-8.
CurveNoise noiseOf(const Precision& precision) {
  return {10, precision.compute == at::kFloat ? 1e-4 : 2 * unitOf(precision.compute)};
}

/// In which precision a network learns, and in which layouts.
struct Learning {
  Precision precision;
  std::vector<LayoutEntry> layouts;

  friend std::ostream& operator<<(std::ostream& out, const Learning& row) { return out << row.precision.name; }
};

/// `own`: of precisions that the convolutions take. Of others ATen's take seconds, in each layout by the same code.
std::vector<Learning> learning(bool own) {
  std::vector<Learning> rows;
  for (const Precision& precision : precisionsOnCpu()) {
    if (convolutionsTake(precision.compute) != own) continue;
    rows.push_back({precision, {}});
    for (const LayoutEntry& layout : layouts()) {
      const bool served = serves(find(executors(), "planned", "executor"), layout, at::kCPU, precision.compute);
      if (served) rows.back().layouts.push_back(layout);
    }
  }
  return rows;
}

std::vector<Learning> quickLearning() {
  std::vector<Learning> rows = learning(/*own=*/true);
  for (const Learning& row : learning(/*own=*/false)) rows.push_back({row.precision, {row.layouts.front()}});
  return rows;
}

class ExecutorCurve : public testing::TestWithParam<Learning> {};

/// Stated before any run, of fp16 with a scaled loss beside fp32: of 30 small steps each rounds gradients and
/// activations some ten times one after the other, which moves the loss by no more than 16 roundings of its size, 2^-8.
TEST_P(ExecutorCurve, PlannedLearnsAsAutogradDoesAndFp16AsFp32) {
  const Graph net = residualNet();
  const Precision& precision = GetParam().precision;
  const ExecutorEntry& planned = find(executors(), "planned", "executor");
  const auto plain = curve(net, precision, find(executors(), "autograd", "executor"), layouts().front());
  EXPECT_LT(meanOf(std::span(plain).last(10)), 0.75 * plain.front()) << "learns nothing";
  for (const LayoutEntry& layout : GetParam().layouts) {
    SCOPED_TRACE(layout.name);
    const auto found = curve(net, precision, planned, layout);
    expectSameCurve(found, plain, noiseOf(precision));
    if (!precision.lossScaling) continue;
    const auto single = curve(net, find(precisions(), "fp32", "precision"), planned, layout);
    expectSameCurve(found, single, {10, 16 * unitOf(at::kHalf)});
  }
}

INSTANTIATE_TEST_SUITE_P(Catalog, ExecutorCurve, testing::ValuesIn(quickLearning()),
                         [](const auto& row) { return std::string(row.param.precision.name); });
INSTANTIATE_TEST_SUITE_P(LongCatalog, ExecutorCurve, testing::ValuesIn(learning(/*own=*/false)),
                         [](const auto& row) { return std::string(row.param.precision.name); });

}  // namespace
}  // namespace tandem::equivalence
