#include "train/weight_init.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <cmath>

#include "base/catalog.h"
#include "executor/executor.h"
#include "models/model.h"

namespace tandem {
namespace {

struct Initialised {
  Graph graph = buildModel("resnet20", {});
  FlatBuffers buffers;
  Initialised(uint64_t seed, at::MemoryFormat format, const char* precision = "fp32")
      : buffers(parameterSpecs(graph), find(precisions(), precision, "precision"), at::kCPU, format) {
    initialiseWeights(graph, seed, {}, buffers);
  }
  uint64_t fingerprint() const { return weightsFingerprint(graph, buffers); }
};

TEST(Initialise, dependsOnTheSeedAndNotOnTheLayoutOrPrecision) {
  const Initialised one(1, at::MemoryFormat::ChannelsLast);
  EXPECT_EQ(one.fingerprint(), Initialised(1, at::MemoryFormat::Contiguous).fingerprint());
  EXPECT_EQ(one.fingerprint(), Initialised(1, at::MemoryFormat::ChannelsLast, "bf16").fingerprint());
  EXPECT_NE(one.fingerprint(), Initialised(2, at::MemoryFormat::ChannelsLast).fingerprint());
}

TEST(Initialise, fingerprintSeesOneChangedElement) {
  Initialised one(1, at::MemoryFormat::ChannelsLast);
  const uint64_t before = one.fingerprint();
  one.buffers.masterView(0).view(-1)[0] += 1;
  EXPECT_NE(before, one.fingerprint());
}

TEST(Initialise, scalesConvolutionsByFanInAndRoundsIntoWeights) {
  const Initialised one(1, at::MemoryFormat::ChannelsLast, "bf16");
  for (const Parameter& parameter : one.graph.parameters()) {
    const int index = one.buffers.indexOf(parameter.name);
    const at::Tensor master = one.buffers.masterView(index);
    EXPECT_TRUE(
        one.buffers.weightView(index).eq(master.to(one.buffers.weightView(index).scalar_type())).all().item<bool>());
    if (parameter.shape.size() != 4 || parameter.count() < 2000) continue;
    const double expected = std::sqrt(2.0 / static_cast<double>(parameter.fanIn));
    EXPECT_NEAR(master.std().item<double>() / expected, 1, 0.1) << parameter.name;
  }
}

TEST(Initialise, AttributesSayWhatWeightsBeginAs) {
  Graph graph({3, 8, 8});
  NodeId at = graph.add("conv", "white", {graph.input()}, {.outputs = 6, .bias = false, .whitening = true});
  at = graph.add("conv", "wide", {at}, {.outputs = 64, .kernelH = 3, .kernelW = 3, .gain = 0.5, .identity = true});
  at = graph.add("conv", "narrow", {at}, {.outputs = 4, .identity = true});
  at = graph.add("flatten", "flatten", {at});
  graph.add("linear", "fc", {at}, {.outputs = 100, .gain = 3});
  FlatBuffers buffers(parameterSpecs(graph), precisions().front(), at::kCPU, at::MemoryFormat::ChannelsLast);
  const at::Tensor given = at::arange(18, at::kFloat).view({6, 3, 1, 1});
  initialiseWeights(graph, 1, {{"white.weight", given}}, buffers);
  const auto weight = [&](const char* name) { return buffers.masterView(buffers.indexOf(name)); };
  EXPECT_TRUE(at::equal(weight("white.weight"), given));
  const at::Tensor wide = weight("wide.weight");
  at::Tensor copies = at::zeros({6, 6, 3, 3});
  for (int64_t i = 0; i < 6; ++i) copies[i][i][1][1] = 1;
  EXPECT_TRUE(at::equal(wide.narrow(0, 0, 6), copies));
  EXPECT_NEAR(wide.narrow(0, 6, 58).std().item<double>() / std::sqrt(0.5 / 54), 1, 0.1);
  EXPECT_TRUE(at::equal(weight("narrow.weight").view({4, 64}), at::eye(4, 64)));
  const at::Tensor head = weight("fc.weight");
  EXPECT_NEAR(head.std().item<double>() / std::sqrt(3.0 / static_cast<double>(head.size(1))), 1, 0.1);
}

}  // namespace
}  // namespace tandem
