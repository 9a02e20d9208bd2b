#include "executor/compile/plan_description.h"

#include <gtest/gtest.h>

#include "kernels/conv/nchwc.h"
#include "models/model.h"

namespace tandem {
namespace {

/// conv, then batch-norm + ReLU, a pool, conv + batch-norm + sum + ReLU with the pool's output, a linear layer.
Graph smallNet(int64_t channels) {
  Graph net({3, 8, 8});
  const auto conv = [&](const char* name, NodeId from) {
    return net.add("conv", name, {from},
                   {.outputs = channels, .kernelH = 3, .kernelW = 3, .padding = Padding::all(1), .bias = false});
  };
  NodeId x = net.add("relu", "relu1", {net.add("batch_norm", "bn1", {conv("conv1", net.input())})});
  x = net.add("max_pool", "pool", {x}, {.kernelH = 2, .kernelW = 2, .strideH = 2, .strideW = 2});
  const NodeId main = net.add("batch_norm", "bn2", {conv("conv2", x)});
  x = net.add("relu", "relu2", {net.add("add", "add", {main, x})});
  net.add("linear", "fc", {net.add("flatten", "flatten", {x})}, {.outputs = 10});
  return net;
}

const OpDescription& callOf(const PlanDescription& plan, std::string_view name) {
  const auto found = std::ranges::find(plan.calls, name, &OpDescription::name);
  if (found == plan.calls.end()) throw std::out_of_range(std::string(name));
  return *found;
}

TEST(PlanDescription, NamesWhatWasFusedAndWhatItReads) {
  const PlanDescription plan = describePlan(smallNet(4), {}, 2);
  EXPECT_EQ(plan.calls.size(), 7u);
  EXPECT_EQ(callOf(plan, "bn1").operation, "batch_norm + relu");
  EXPECT_EQ(callOf(plan, "bn2").operation, "batch_norm + add + relu");
  EXPECT_EQ(callOf(plan, "bn2").inputs, (std::vector<std::string>{"conv2", "pool"}));
  EXPECT_EQ(callOf(plan, "conv1").inputs, std::vector<std::string>{"input"});
  EXPECT_EQ(callOf(plan, "conv1").parameters, 4 * 3 * 9);
  EXPECT_EQ(callOf(plan, "conv1").flops, 2.0 * 2 * 4 * 3 * 9 * 64);
  EXPECT_EQ(callOf(plan, "conv1").outputBytes, 2 * 4 * 64 * 4);
  EXPECT_FALSE(callOf(plan, "pool").byAutograd);
  EXPECT_TRUE(callOf(plan, "flatten").byAutograd);
  EXPECT_EQ(operationsByAutograd(smallNet(4), at::kCPU), std::vector<std::string>{"flatten"});
}

TEST(PlanDescription, CountsWhatIsKeptForBackward) {
  const int64_t element = 4, full = 2 * 4 * 64 * element, pooled = full / 4, input = 2 * 3 * 64 * element;
  const PlanDescription plan = describePlan(smallNet(4), {}, 2);
  // The images (conv1), conv1 (bn1), bn1 (pool), pool with its places (conv2), conv2 and the output of bn2 (bn2,
  // flatten), flatten (fc).
  const int64_t places = pooled / element * 8;
  EXPECT_EQ(plan.keptBytes, input + full + full + pooled + places + pooled + pooled + pooled);
  EXPECT_GE(plan.peakBytes, plan.keptBytes);
  EXPECT_TRUE(callOf(plan, "conv1").kept);
  EXPECT_FALSE(callOf(plan, "fc").kept);
}

// There kernels run, which recompute a ReLU's mask and number a maximum's place in one byte: bn1's output is not kept.
TEST(PlanDescription, CountsWhatKernelsKeepOnAGpu) {
  const int64_t element = 2, full = 2 * 4 * 64 * element, pooled = full / 4, input = 2 * 3 * 64 * element;
  ExecutorOptions options{.compute = at::kHalf, .device = at::kCUDA};
  EXPECT_EQ(describePlan(smallNet(4), options, 2).keptBytes, input + full + pooled + pooled / element + 3 * pooled);
  options.kernels.layout.format = at::MemoryFormat::Contiguous;
  EXPECT_EQ(describePlan(smallNet(4), options, 2).keptBytes,
            input + full + full + pooled + pooled / element * 8 + 3 * pooled);
}

TEST(PlanDescription, NamesTheAlgorithmsOfConvolutions) {
  if (convolutionLibrary().empty()) GTEST_SKIP() << "a build without oneDNN";
  const Graph graph = smallNet(4);
  const auto *const direct = &convolutionAlgorithms()[0], *const winograd = &convolutionAlgorithms()[1];
  ExecutorOptions options;
  EXPECT_EQ(callOf(describePlan(graph, options, 1), "conv1").algorithm, "direct");
  EXPECT_EQ(callOf(describePlan(graph, options, 1), "bn1").algorithm, "");
  options.kernels.algorithms.assign(graph.nodes().size(), {winograd, winograd, winograd});
  EXPECT_EQ(callOf(describePlan(graph, options, 1), "conv1").algorithm, "winograd");
  options.kernels.algorithms.assign(graph.nodes().size(), {direct, winograd, direct});
  EXPECT_EQ(callOf(describePlan(graph, options, 1), "conv1").algorithm, "direct, winograd, direct");
}

TEST(PlanDescription, NamesTheEnginesOfConvolutionsOnAGpu) {
  const Graph graph = smallNet(4);
  ExecutorOptions options;
  options.device = at::kCUDA;
  EXPECT_EQ(callOf(describePlan(graph, options, 1), "conv1").algorithm, "ATen");
  options.kernels.engines.assign(graph.nodes().size(), {1, {"ATen", "ATen", "ATen"}});
  EXPECT_EQ(callOf(describePlan(graph, options, 1), "conv1").algorithm, "ATen");
  options.kernels.engines.assign(graph.nodes().size(), {1, {"eng1", "ATen", "eng2"}});
  EXPECT_EQ(callOf(describePlan(graph, options, 1), "conv1").algorithm, "eng1, ATen, eng2");
  options.kernels.engines.assign(graph.nodes().size(), {1, {"eng1", "ATen", "eng2"}, "eng7"});
  EXPECT_EQ(callOf(describePlan(graph, options, 1), "conv1").algorithm, "eng7 with sums, ATen, eng2");
}

TEST(PlanDescription, SaysWhereConvolutionsAreAtens) {
  ExecutorOptions options;
  options.compute = at::kHalf;
  EXPECT_EQ(callOf(describePlan(smallNet(4), options, 1), "conv1").algorithm, "ATen");
  EXPECT_EQ(callOf(describePlan(smallNet(4), options, 1), "bn1").algorithm, "");
  options.compute = at::kBFloat16;
  options.kernels.layout.format = at::MemoryFormat::Contiguous;
  EXPECT_EQ(callOf(describePlan(smallNet(4), options, 1), "conv1").algorithm, "ATen");
}

TEST(PlanDescription, ShowsChannelsOfZeros) {
  const Graph graph = smallNet(4);
  const PlanDescription bare = describePlan(graph, {}, 2),
                        padded = describePlan(graph, {.kernels = {.zeroChannels = 5}}, 2);
  EXPECT_EQ(callOf(padded, "conv1").operation, "conv (5 channels of zeros)");
  EXPECT_EQ(callOf(padded, "conv1").algorithm, callOf(bare, "conv1").algorithm);
  EXPECT_EQ(callOf(padded, "conv2").operation, "conv");
  EXPECT_EQ(callOf(padded, "conv1").parameters, 4 * 3 * 9);
  EXPECT_EQ(padded.keptBytes, bare.keptBytes + 2 * 5 * 64 * 4);
  EXPECT_EQ(callOf(describePlan(graph, {.kernels = {.zeroChannels = 1}}, 2), "conv1").operation,
            "conv (1 channel of zeros)");
}

TEST(PlanDescription, ShowsBlocksOfChannels) {
  ExecutorOptions options;
  options.kernels.layout.blocked = true;
  const PlanDescription plan = describePlan(smallNet(2 * blockChannels()), options, 1);
  for (const char* name : {"conv1", "bn1", "pool", "conv2", "bn2"}) EXPECT_TRUE(callOf(plan, name).blocked) << name;
  for (const char* name : {"flatten", "fc"}) EXPECT_FALSE(callOf(plan, name).blocked) << name;
}

}  // namespace
}  // namespace tandem
