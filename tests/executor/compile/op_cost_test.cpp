#include "executor/compile/op_cost.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "base/catalog.h"
#include "executor/model_subject.h"
#include "models/model.h"
#include "trace/op_scope.h"

namespace tandem {
namespace {

/// conv, batch-norm + ReLU, a pool, conv + batch-norm + sum + ReLU with the pool's output, a linear layer.
Graph smallNet() {
  Graph net({3, 8, 8});
  const auto conv = [&](const char* name, NodeId from) {
    return net.add("conv", name, {from},
                   {.outputs = 4, .kernelH = 3, .kernelW = 3, .padding = Padding::all(1), .bias = false});
  };
  NodeId x = net.add("relu", "relu1", {net.add("batch_norm", "bn1", {conv("conv1", net.input())})});
  x = net.add("max_pool", "pool", {x}, {.kernelH = 2, .kernelW = 2, .strideH = 2, .strideW = 2});
  const NodeId main = net.add("batch_norm", "bn2", {conv("conv2", x)});
  x = net.add("relu", "relu2", {net.add("add", "add", {main, x})});
  net.add("linear", "fc", {net.add("flatten", "flatten", {x})}, {.outputs = 10});
  return net;
}

double flopsOf(const std::vector<OpCost>& works) {
  double flops = 0;
  for (const OpCost& work : works) flops += work.flops;
  return flops;
}

TEST(OpCost, ComesToTheFlopsOfTraining) {
  EXPECT_DOUBLE_EQ(flopsOf(opCosts(smallNet(), {}, 2)), 2 * trainingFlops(smallNet()));
  const Graph resnet = buildModel("resnet20", {});
  EXPECT_DOUBLE_EQ(flopsOf(opCosts(resnet, {}, 3)), 3 * trainingFlops(resnet));
}

TEST(OpCost, CountsWhatAPassReadsAndWrites) {
  const auto works = opCosts(smallNet(), {}, 2);
  ASSERT_EQ(works.size(), 14U);
  const double images = 2 * 3 * 64 * 4, full = 2 * 4 * 64 * 4, pooled = full / 4, places = 2 * pooled;
  const OpCost &conv1 = works[0], &conv1Backward = works[1], &pool = works[4], &conv2Backward = works[7];
  EXPECT_EQ(conv1.name, "conv forward");
  EXPECT_EQ(conv1.bytes, images + full + 4 * 4 * 27);
  EXPECT_EQ(conv1Backward.name, "conv backward");
  EXPECT_EQ(conv1Backward.bytes, full + images + 4 * 4 * 27) << "nobody wants the gradient of the images";
  EXPECT_EQ(conv1Backward.flops, conv1.flops);
  EXPECT_EQ(works[2].name, "batch_norm + relu forward");
  EXPECT_EQ(pool.bytes, full + pooled + places);
  EXPECT_EQ(conv2Backward.bytes, 3 * pooled + 2 * 4 * 4 * 36);
  EXPECT_EQ(conv2Backward.flops, 2 * works[6].flops);
  EXPECT_EQ(works[8].name, "batch_norm + add + relu forward");
  EXPECT_EQ(works[8].bytes, 3 * pooled + 4 * 2 * 4) << "the sum is read too";
}

TEST(OpCost, ChannelsOfZerosAreRead) {
  const OpCost three = opCosts(smallNet(), {}, 2)[0],
               eight = opCosts(smallNet(), {.kernels = {.zeroChannels = 5}}, 2)[0];
  EXPECT_EQ(eight.name, "conv (5 channels of zeros) forward");
  EXPECT_EQ(eight.bytes, three.bytes + 2 * 5 * 64 * 4);
  EXPECT_EQ(eight.flops, three.flops);
}

TEST(OpCost, OfHalfPrecisionIsHalfTheBytesAndRepeatedForwardCountsTwice) {
  const auto full = opCosts(smallNet(), {}, 2), half = opCosts(smallNet(), {.compute = at::kBFloat16}, 2);
  EXPECT_EQ(2 * half[0].bytes, full[0].bytes);
  EXPECT_EQ(half[0].flops, full[0].flops);
  const Graph resnet = buildModel("resnet20", {});
  const auto kept = opCosts(resnet, {}, 2);
  const auto again = opCosts(resnet, {.recompute = find(recomputes(), "segments", "--recompute")}, 2);
  EXPECT_EQ(again[0].bytes, 2 * kept[0].bytes);
  EXPECT_EQ(again[0].flops, 2 * kept[0].flops);
  EXPECT_EQ(again[1].flops, kept[1].flops);
}

/// The numbers of the passes as they begin; an end is -1.
class Heard final : public OpListener {
 public:
  Heard() { threadOpListener = this; }
  ~Heard() override { threadOpListener = nullptr; }
  void opBegins(int64_t operation) noexcept override { numbers.push_back(operation); }
  void opEnds() noexcept override { numbers.push_back(-1); }
  std::vector<int64_t> numbers;
};

std::vector<int64_t> heardIn(const Graph& graph, const ExecutorOptions& options) {
  const Precision& fp32 = precisions().front();
  FlatBuffers buffers = buffersFor(graph, fp32, options);
  const auto executor = find(executors(), "planned", "executor").make(options);
  executor->bind(graph, buffers);
  const at::Tensor images = at::randn({2, 3, 8, 8}).contiguous(at::MemoryFormat::ChannelsLast);
  Heard heard;
  const at::Tensor output = executor->forward({images, at::zeros({2}, at::kLong), 0, nullptr})[0];
  const at::Tensor gradient = at::ones_like(output);
  executor->backward({&gradient, 1}, [&heard](auto) { EXPECT_EQ(heard.numbers.back(), -1) << "of no operation"; });
  return heard.numbers;
}

TEST(OpCost, IsMarkedWhereThePlannedExecutorDoesIt) {
  std::vector<int64_t> expected;
  for (size_t call = 0; call < 7; ++call) expected.insert(expected.end(), {forwardWork(call), -1});
  for (size_t call = 7; call-- > 0;) expected.insert(expected.end(), {backwardWork(call), -1});
  EXPECT_EQ(heardIn(smallNet(), {}), expected);
}

TEST(OpCost, OfARepeatedForwardIsMarkedAsForward) {
  const auto heard = heardIn(smallNet(), {.recompute = find(recomputes(), "norm", "--recompute")});
  const auto backwardBegins = std::ranges::find(heard, backwardWork(6));
  EXPECT_TRUE(
      std::ranges::any_of(backwardBegins, heard.end(), [](int64_t number) { return number >= 0 && number % 2 == 0; }));
}

}  // namespace
}  // namespace tandem
