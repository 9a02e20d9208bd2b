#include "strategy/compression/compression.h"

#include <gtest/gtest.h>

#include "strategy/oracles.h"

namespace tandem {
namespace {

SyntheticRun compressedBy(std::string_view method, int replicas = 3) {
  SyntheticRun run{.strategy = &find(strategies(), "compressed", "strategy"), .replicas = replicas};
  run.compression = {.method = &find(compressions(), method, "compression"), .ratio = 0.1, .rank = 2};
  run.gradient = fullRankGradientOf;
  return run;
}

StrategyTraffic trafficOf(const SyntheticRun& run) {
  const auto devices = cpuDevices(run.replicas);
  Monitor monitor(true);
  return attached(run, devices, monitor)->traffic();
}

// Buckets of 500 bytes: d and c; b; e and a. In elements, with padding up to 64 bytes: 32 + 16, 1008, 16 + 80.
TEST(Compression, TrafficIsWhatMessagesHold) {
  constexpr int others = 2;
  constexpr double signs = 6 + 126 + 12, means = 8 * (20 + 3), vectors = 4 * (30 + 10 + 77), roundedUp = 2 + 2;
  EXPECT_EQ(trafficOf(compressedBy("onebit")).bytesPerStep, others * (signs + means + vectors + roundedUp));
  EXPECT_EQ(trafficOf(compressedBy("topk")).bytesPerStep, others * 8 * (3 + 1 + 100 + 1 + 8));
  constexpr double factors = 2 * (20 + 50), whole = 30 + 10 + 6 + 77;
  EXPECT_DOUBLE_EQ(trafficOf(compressedBy("powersgd")).bytesPerStep, 4.0 / 3 * 4 * (factors + whole));
  EXPECT_DOUBLE_EQ(trafficOf(compressedBy("powersgd")).messagesPerStep, (3 + 1) * 4);
  EXPECT_EQ(trafficOf(compressedBy("topk")).messagesPerStep, 3 * others);
  for (const CompressionEntry& method : compressions()) {
    EXPECT_EQ(trafficOf(compressedBy(method.name, 1)).bytesPerStep, 0) << method.name;
  }
}

TEST(Compression, DoesNotDependOnHowGradientsAreCutIntoBuckets) {
  for (const CompressionEntry& method : compressions()) {
    SyntheticRun run = compressedBy(method.name);
    const auto cut = train(run);
    run.buckets = {1 << 20};
    const auto whole = train(run);
    for (int i = 0; i < cut[0]->parameters(); ++i) {
      const Slice slice = cut[0]->slice(i);
      EXPECT_LE(relativeDifference(whole[0]->master(slice), cut[0]->master(slice).to(at::kDouble)), 1e-6)
          << method.name << ", parameter " << i;
    }
  }
}

// A layer behind one that starts at zero gets no gradient at first.
TEST(Compression, TellsOfGradientsThatComeLate) {
  for (const CompressionEntry& method : compressions()) {
    SyntheticRun run = compressedBy(method.name);
    run.gradient = [](int replica, int parameter, int64_t step, int64_t count) {
      return step < 2 ? at::zeros({count}) : fullRankGradientOf(replica, parameter, step, count);
    };
    const auto results = train(run);
    for (int i = 0; i < results[0]->parameters(); ++i) {
      const at::Tensor expected = lossyMaster(run, i, run.steps);
      EXPECT_LE(relativeDifference(results[0]->master(results[0]->slice(i)), expected), lossyBound)
          << method.name << ", parameter " << i;
    }
  }
}

// What is not told in one step is told later: the weights follow those of whole gradients, and nothing is lost.
TEST(Compression, ErrorsComeBack) {
  for (const CompressionEntry& method : compressions()) {
    SyntheticRun run = compressedBy(method.name);
    run.optimizer = {.learningRate = 0.1, .momentum = 0};
    run.steps = 60;
    run.gradient = [](int replica, int parameter, int64_t, int64_t count) {
      return fullRankGradientOf(replica, parameter, 0, count);
    };
    const auto results = train(run);
    for (int i = 0; i < results[0]->parameters(); ++i) {
      const at::Tensor start = initialOf(i, results[0]->slice(i).count()).to(at::kDouble);
      const at::Tensor whole = expectedMaster(run, i, run.steps, 0, run.replicas) - start;
      const at::Tensor moved = results[0]->master(results[0]->slice(i)).to(at::kDouble) - start;
      EXPECT_LE(relativeDifference(moved, whole), 0.5) << method.name << ", parameter " << i;
    }
  }
}

// Rows are outputs, however the weight lies in memory.
TEST(Compression, AMatrixOfABlockedWeightHasItsOutputsAsRows) {
  const Precision& fp32 = find(precisions(), "fp32", "precision");
  FlatBuffers buffers({{"v", {5}, false, 0}, {"w", {16, 8, 3, 3}, false, 8}}, fp32, at::kCPU,
                      at::MemoryFormat::ChannelsLast);
  const Slice whole = buffers.whole(0);
  buffers.gradient(whole).copy_(at::arange(whole.count()));
  const auto matrices = matricesOf(buffers, whole);
  ASSERT_EQ(matrices.size(), 2U);
  EXPECT_EQ(matrices[0].rows, 1);
  EXPECT_EQ(matrices[1].rows, 16);
  const at::Tensor rows = matrices[1].in(buffers.gradient(whole)).reshape({16, 72});
  const at::Tensor outputs = buffers.gradientView(1).reshape({16, 72});
  EXPECT_TRUE(at::equal(std::get<0>(rows.sort(1)), std::get<0>(outputs.sort(1))));
}

}  // namespace
}  // namespace tandem
