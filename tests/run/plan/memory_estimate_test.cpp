#include "run/plan/memory_estimate.h"

#include <gtest/gtest.h>

#include <set>
#include <string_view>

#include "base/error.h"
#include "base/text.h"
#include "kernels/conv/convolution.h"
#include "run/plan/plan.h"
#include "run/ten_images.h"
#include "run/tiny_config.h"

namespace tandem {
namespace {

TEST(MemoryToUse, KeepsAReserve) {
  constexpr int64_t mib = 1 << 20;
  EXPECT_EQ(memoryToUse(1000 * mib), 744 * mib);
  EXPECT_EQ(memoryToUse(100'000 * mib), 95'000 * mib);
  EXPECT_EQ(memoryToUse(100 * mib), 1);
}

TEST(MemoryEstimate, ServersHoldWhatRanksSend) {
  auto config = tinyConfig();
  config.placement.oversubscribe = true;
  config.exchange.strategy = "parameter_server";
  const RunPlan alone = resolvePlan(config);
  const int64_t gradient = 4 * alone.parameters;
  const auto more = [&] { return resolvePlan(config).memory.parameters - alone.memory.parameters; };
  config.placement.ranks = 4;
  EXPECT_EQ(more(), gradient) << "of all ranks those of a quarter of the variables";
  config.exchange.serverRanks = 2;
  EXPECT_EQ(more(), 2 * gradient);
  config.exchange.serverMode = "staged";
  EXPECT_EQ(more(), 2 * gradient + gradient / 2) << "and weights that are put aside";
  config.exchange.serverMode = "async";
  EXPECT_EQ(more(), 2 * gradient + 3 * gradient) << "gradients and weights of this rank, and of three for a half";
  config.exchange.serverRanks = 0, config.placement.servers = 1, config.exchange.serverMode = "sync";
  EXPECT_EQ(more(), 4 * gradient);
}

TEST(MemoryEstimate, ParametersAreCountedPerReplicaAndServer) {
  auto config = tinyConfig();
  const auto one = resolvePlan(config).memory;
  config.exchange.strategy = "parameter_server";
  const int64_t copy = resolvePlan(config).memory.parameters - one.parameters;
  EXPECT_EQ(copy, 12 * resolvePlan(config).parameters);  // fp32 master, gradient, momentum
  config.exchange.strategy = "replicated";
  config.placement.replicas = 2;
  config.exchange.allReduce = "ring";
  EXPECT_EQ(resolvePlan(config).memory.parameters, 2 * one.parameters);
  config.exchange.allReduce = "owner";
  const auto owned = resolvePlan(config);
  const std::set<int> nodes(owned.cores.nodeOf.begin(), owned.cores.nodeOf.end());
  const int64_t saved = 2 - std::ssize(nodes);  // copies of master and momentum
  EXPECT_EQ(owned.memory.parameters, 2 * one.parameters - saved * copy / 3 * 2);
  config.exchange.allReduce = "auto";
  config.placement.replicas = 1;
  config.step.optimizer = "adam";
  EXPECT_EQ(resolvePlan(config).memory.parameters, one.parameters + copy / 3);  // a second moment
  config.step.optimizer = "sgd";
  config.step.momentum = 0;
  EXPECT_EQ(resolvePlan(config).memory.parameters, one.parameters - copy / 3);
}

// Backward's gradients stay beside those that are rounded; wider ones than backward's are there too.
TEST(MemoryEstimate, GradientsOfAnotherTypeAreThereTwice) {
  auto config = tinyConfig();
  const auto own = resolvePlan(config);
  config.exchange.gradientPrecision = "bf16";
  EXPECT_EQ(resolvePlan(config).memory.parameters, own.memory.parameters + 2 * own.parameters);
  config.exchange.gradientPrecision = "fp32";
  EXPECT_EQ(resolvePlan(config).memory.parameters, own.memory.parameters) << "that is their own";
  config.numerics.precision = "bf16";
  const auto wider = resolvePlan(config);
  config.exchange.gradientPrecision = "auto";
  EXPECT_EQ(wider.memory.parameters, resolvePlan(config).memory.parameters + 4 * own.parameters);
}

TEST(MemoryEstimate, ActivationsFollowTheBatchAndNeedBackward) {
  auto config = tinyConfig();
  config.step.batch = 100;
  const auto once = resolvePlan(config).memory.activations;
  config.step.batch = 200;
  EXPECT_EQ(resolvePlan(config).memory.activations, 2 * once);
  config.step.forwardOnly = true;
  EXPECT_LT(resolvePlan(config).memory.activations, once);
}

TEST(MemoryEstimate, NarrowTypesHalveActivations) {
  auto config = tinyConfig();
  config.step.batch = 100;
  config.numerics.executor = "autograd";
  const auto wide = resolvePlan(config);
  config.numerics.precision = "bf16";
  EXPECT_EQ(resolvePlan(config).memory.activations * 2, wide.memory.activations);
}

TEST(MemoryEstimate, WhereBf16IsComputedInFp32TheLargestOutputIsThereInBoth) {
  auto config = tinyConfig();
  config.network.model = "resnet20", config.step.batch = 6, config.numerics.precision = "bf16";
  const auto plan = resolvePlan(config);
  const int64_t largest = 16 * 32 * 32 * 6;
  const int64_t bytes = convolutionsWidenBf16() ? 2 + 4 : 2;
  EXPECT_EQ(plan.memory.activations, plan.activationBytes + 3 * largest * bytes);
}

TEST(MemoryEstimate, WhatIsComputedAgainNeedsNoMemory) {
  auto config = tinyConfig();
  config.network.model = "resnet20";
  const auto all = resolvePlan(config);
  EXPECT_GT(all.activationBytes, 0);
  config.numerics.recompute = "segments";
  const auto segments = resolvePlan(config);
  EXPECT_LT(segments.activationBytes, all.activationBytes / 2);
  EXPECT_LT(segments.memory.activations, all.memory.activations);
  EXPECT_EQ(segments.recomputeNote, "");
  config.numerics.recompute = "nonsense";
  EXPECT_THROW(resolvePlan(config), UsageError);
}

TEST(MemoryEstimate, CountsWhatThePlanKeepsAndWhatIsOnItsWay) {
  auto config = tinyConfig();
  config.network.model = "resnet20", config.step.batch = 6, config.placement.replicas = 2, config.step.accumulate = 2;
  const auto plan = resolvePlan(config);
  const int64_t largest = 16 * 32 * 32 * 4;  // of an image: 16 channels in fp32
  EXPECT_EQ(plan.memory.activations, 2 * (plan.activationBytes + 3 * largest * 3));
  config.numerics.executor = "autograd";
  const auto all = resolvePlan(config);
  EXPECT_EQ(all.activationBytes, 0) << "no plan says what is kept";
  EXPECT_GT(all.memory.activations, plan.memory.activations);
}

TEST(MemoryEstimate, CountsTheCacheAndTheProcessesOfTheLoader) {
  auto config = tinyConfig();
  config.input.data = tenFiles();
  const MemoryEstimate before = resolvePlan(config).memory;
  config.input.cacheGib = 0.5;
  EXPECT_EQ(resolvePlan(config).memory.input, before.input + (int64_t{1} << 29));
  config.input.cacheGib = 0, config.input.producers = 2;
  const MemoryEstimate threads = resolvePlan(config).memory;
  config.input.loader = "processes";
  const MemoryEstimate processes = resolvePlan(config).memory;
  const int64_t batch = 4 * 32 * 32 * 3;
  EXPECT_EQ(processes.input, threads.input + 2 * 2 * batch);
  EXPECT_GT(processes.runtime, threads.runtime);
  config.input.data = tenImages();
  const int64_t pixels = 10 * 28 * 28;
  EXPECT_EQ(resolvePlan(config).memory.input, processes.input + (1 + 2) * pixels);
}

/// A run on two cores of an AMD EPYC with AVX2 alone, where bf16 is computed in fp32, with one replica, and the peak of
/// its resident set (docs/results/2026-11-22-recompute.md).
struct MeasuredPeak {
  const char* model;
  int64_t batch;
  const char *precision, *recompute;
  double mib;
};

class MemoryEstimatePeak : public testing::TestWithParam<MeasuredPeak> {};

constexpr MeasuredPeak peaks[] = {
    {"resnet50", 16, "fp32", "none", 2157},      {"resnet50", 16, "fp32", "norm", 1805},
    {"resnet50", 16, "fp32", "segments", 1343},  {"resnet50", 16, "bf16", "none", 1795},
    {"resnet50", 16, "bf16", "norm", 1637},      {"resnet50", 16, "bf16", "segments", 1381},
    {"resnet152", 16, "fp32", "none", 4586},     {"resnet152", 16, "fp32", "norm", 3776},
    {"resnet152", 16, "fp32", "segments", 2464}, {"resnet110", 256, "fp32", "none", 2322},
    {"resnet110", 256, "fp32", "norm", 1576},    {"resnet110", 256, "fp32", "segments", 602},
    {"vgg16", 16, "fp32", "none", 3512},         {"vgg16", 16, "fp32", "segments", 3398}};

TEST_P(MemoryEstimatePeak, IsWithin15Percent) {
  const MeasuredPeak& run = GetParam();
  if (run.precision == std::string_view("bf16") && !convolutionsWidenBf16())
    GTEST_SKIP() << "measured where bf16 is computed in fp32; this processor computes it as it is";
  Config config;
  config.network.model = run.model, config.step.batch = run.batch;
  config.numerics.precision = run.precision, config.numerics.recompute = run.recompute;
  const auto estimate = static_cast<double>(resolvePlan(config).memory.total());
  EXPECT_NEAR(estimate / (1 << 20) / run.mib, 1, 0.15) << estimate / (1 << 20) << " MiB";
}

INSTANTIATE_TEST_SUITE_P(Measured, MemoryEstimatePeak, testing::ValuesIn(peaks), [](const auto& row) {
  return concat(row.param.model, '_', row.param.precision, '_', row.param.recompute);
});

}  // namespace
}  // namespace tandem
