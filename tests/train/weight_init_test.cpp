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
    initialiseWeights(graph, seed, buffers);
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

}  // namespace
}  // namespace tandem
