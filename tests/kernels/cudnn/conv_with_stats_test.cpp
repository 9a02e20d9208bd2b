#include "kernels/cudnn/conv_with_stats.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <cmath>

#include "base/text.h"
#include "machine/gpu/gpu_facts.h"
#include "support/stand_in_engines.h"
#include "support/test_devices.h"

namespace tandem {
namespace {

constexpr auto channelsLast = at::MemoryFormat::ChannelsLast;
constexpr ConvolutionGeometry same{1, 1, 1, 1, 1, 1, 1};
constexpr std::array<int64_t, 4> xShape{3, 16, 9, 7}, weightShape{24, 16, 3, 3}, yShape{3, 24, 9, 7};

ConvolutionProblem problemOf(at::ScalarType type) {
  ConvolutionProblem problem = tandem::problemOf(ConvolutionPass::forward, same, type, xShape, weightShape);
  problem.sums = true;
  return problem;
}

/// The convolution apart is ATen's.
StatsSubject subjectOf(at::ScalarType type, bool residual, at::Device device = at::kCPU) {
  at::manual_seed(5);
  const auto random = [&](at::IntArrayRef shape) { return at::randn(shape).to(device, type).contiguous(channelsLast); };
  const auto perChannel = [&](double value) { return at::full({yShape[1]}, value, at::TensorOptions(device)); };
  const ConvolutionTensors tensors{
      random(xShape) + 0.5, random(weightShape), random(yShape), {perChannel(std::nan("")), perChannel(std::nan(""))}};
  const std::string aten(atenName);
  const auto none = [](const ConvolutionProblem&) -> std::unique_ptr<ExecutionPlans> { return nullptr; };
  return {makeCudnnConvolution(same, {tensors.weight, {}, {}, {}}, {xShape[0], {aten, aten, aten}}, none),
          tensors,
          residual ? random(yShape) : at::Tensor(),
          {perChannel(1), perChannel(0), perChannel(0), perChannel(1)},
          {1e-5, 0.1, Activation::relu, true}};
}

TEST(SumsCandidates, AreComparedWithTheConvolution) {
  EngineLog log;
  for (const at::ScalarType type : {at::kFloat, at::kBFloat16, at::kHalf}) {
    for (const bool residual : {false, true}) {
      const StatsSubject subject = subjectOf(type, residual);
      const auto candidates = statsCandidates(subject, std::make_shared<StandInPlans>(problemOf(type), log));
      ASSERT_EQ(candidates.size(), 4U) << "apart, then three engines";
      EXPECT_EQ(candidates[0].name, "apart, by ATen");
      EXPECT_FALSE(candidates[0].isRight) << "what the others are compared with";
      candidates[0].run();
      EXPECT_EQ(candidates[1].name, "plain");
      const auto isRight = [&] {
        EXPECT_TRUE(candidates[1].prepare().has_value());
        candidates[1].run();
        return candidates[1].isRight();
      };
      EXPECT_TRUE(isRight());
      log.wrong = concat("plain");
      EXPECT_FALSE(isRight()) << "another output";
      log.wrong.clear();
      log.sumsShift = 1;
      EXPECT_FALSE(isRight()) << "another mean";
      log.sumsShift = 0;
      EXPECT_TRUE(isRight());
      EXPECT_FALSE(candidates[3].prepare().has_value());
    }
  }
}

// The running statistics show it: 0.1 * mean of the batch.
TEST(SumsCandidates, TheRestOfTheBatchNormRunsByTheSums) {
  EngineLog log;
  const StatsSubject subject = subjectOf(at::kFloat, false);
  const auto candidates = statsCandidates(subject, std::make_shared<StandInPlans>(problemOf(at::kFloat), log));
  const at::Tensor& running = subject.parameters.runningMean;
  const auto left = [&](size_t candidate) {
    running.zero_();
    EXPECT_TRUE(candidates[candidate].prepare().has_value());
    candidates[candidate].run();
    return running.clone();
  };
  const at::Tensor apart = left(0);
  EXPECT_LE(relativeError(left(1), apart), 1e-5);
  log.sumsShift = 1;
  EXPECT_LE(relativeError(left(1), apart + 0.1), 1e-5);
}

/// Where cuDNN's documents promise a convolution with statistics behind it.
bool hasStatistics(at::ScalarType type) {
  const int capability = cudaFacts().gpus.front().capability;
  return type == at::kHalf && (capability == 80 || capability == 90);
}

TEST(CudnnSums, EnginesThatAreReadyAreRight) {
  if (cudaDeviceCount() == 0 || cudnnVersions().empty()) GTEST_SKIP() << "no GPU, or a build without cuDNN's frontend";
  for (const at::ScalarType type : {at::kBFloat16, at::kHalf}) {
    const std::shared_ptr<ExecutionPlans> engines = cudnnConvPlans(problemOf(type));
    EXPECT_TRUE(engines || !hasStatistics(type)) << "cuDNN's documents promise a plan: " << join(planNotes(), "; ");
    if (!engines) continue;  // not on this GPU
    const StatsSubject subject = subjectOf(type, true, at::Device(at::kCUDA, 0));
    for (const TuningCandidate& candidate : statsCandidates(subject, engines)) {
      if (!candidate.isRight || !candidate.prepare()) continue;
      candidate.run();
      EXPECT_TRUE(candidate.isRight()) << candidate.name;
    }
  }
}

}  // namespace
}  // namespace tandem
