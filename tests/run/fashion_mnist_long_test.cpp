#include <gtest/gtest.h>

#include <filesystem>
#include <vector>

#include "base/text.h"
#include "run/loss_curve.h"
#include "run/run_point.h"

namespace tandem {
namespace {

constexpr const char* folder = "/usr/share/datasets/fashion-mnist";  // of Debian's dataset-fashion-mnist
constexpr size_t tail = 20, smoothing = 50;

std::vector<double> lossesOf(const Config& config) {
  const RunRecord record = runPoint(resolvePlan(config), nullptr);
  EXPECT_EQ(record.outcome.kind, OutcomeKind::ok) << record.outcome.reason;
  return record.losses;
}

/// Losses of 400 steps of ResNet-20 with a global batch of 128, learning rate 0.02 constant, momentum 0.9. (With the
/// model's default of 0.1 it learns as well, but the steps are so large that two runs which differ by rounding part.)
std::vector<double> train(int64_t replicas) {
  Config config;
  config.network.model = "resnet20";
  config.input.data = folder;
  config.placement.replicas = replicas;
  config.step.batch = 128 / replicas;
  config.placement.oversubscribe = true;
  config.step.learningRate = 0.02;
  config.measurement.warmup = concat(0);
  config.measurement.steps = 400, config.measurement.verify = "off";
  return lossesOf(config);
}

/// Losses of 100 smaller steps of one replica.
std::vector<double> train(const std::string& precision, const std::string& executor, const std::string& layout) {
  Config config;
  config.network.model = "resnet20";
  config.input.data = folder;
  config.step.batch = 64;
  config.numerics.precision = precision, config.numerics.executor = executor, config.numerics.layout = layout;
  config.step.learningRate = 0.005;
  config.measurement.warmup = concat(0);
  config.measurement.steps = 100, config.measurement.verify = "off";
  return lossesOf(config);
}

class LongTraining : public testing::Test {
 protected:
  void SetUp() override {
    if (!std::filesystem::exists(folder)) GTEST_SKIP() << "dataset-fashion-mnist is not installed";
  }
};

TEST_F(LongTraining, FashionMnistIsLearnedAndTwoReplicasFollowOne) {
  const std::vector<double> one = train(1), two = train(2);
  ASSERT_EQ(one.size(), 400U);
  ASSERT_EQ(two.size(), 400U);
  EXPECT_LT(meanOf(std::span(two).last(tail)), 0.5);
  EXPECT_LT(meanOf(std::span(one).last(tail)), 0.5);
  // The same images in the same order; only batch-norm differs, which sees 64 images of a replica instead of 128.
  expectSameCurve(two, one, {smoothing, 0.05});
}

// Rounding grows with the steps, in two runs of autograd that differ in nothing but the layout too, so the steps are
// few; 2 % is stated for both precisions.
TEST_F(LongTraining, FashionMnistIsLearnedByThePlannedExecutorAsByAutograd) {
  for (const std::string precision : {"fp32", "bf16"}) {
    const std::vector<double> plain = train(precision, "autograd", "nhwc");
    EXPECT_LT(meanOf(std::span(plain).last(tail)), 0.75 * plain.front());
    for (const std::string layout : {"nhwc", "blocked"}) {
      SCOPED_TRACE(concat(precision, ' ', layout));
      expectSameCurve(train(precision, "planned", layout), plain, {smoothing, 0.02});
    }
  }
}

}  // namespace
}  // namespace tandem
