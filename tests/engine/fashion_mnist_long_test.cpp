#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <numeric>

#include "base/text.h"
#include "engine/run_point.h"

namespace tandem {
namespace {

constexpr const char* folder = "/usr/share/datasets/fashion-mnist";  // of Debian's dataset-fashion-mnist
constexpr size_t tail = 20, smoothing = 50;

/// Losses of 400 steps of ResNet-20 with a global batch of 128, learning rate 0.02 constant, momentum 0.9. (With the
/// model's default of 0.1 it learns as well, but the steps are so large that two runs which differ by rounding part.)
std::vector<double> train(int64_t replicas) {
  Config config;
  config.model = "resnet20";
  config.data = folder;
  config.replicas = replicas;
  config.batch = 128 / replicas;
  config.oversubscribe = true;
  config.learningRate = 0.02;
  config.warmup = concat(0);
  config.steps = 400;
  const RunRecord record = runPoint(resolvePlan(config, replicas), nullptr);
  EXPECT_EQ(record.outcome.kind, OutcomeKind::ok) << record.outcome.reason;
  return record.losses;
}

double meanOf(std::span<const double> values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
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
  for (size_t end = smoothing; end <= one.size(); ++end) {
    const double a = meanOf(std::span(one).subspan(end - smoothing, smoothing));
    const double b = meanOf(std::span(two).subspan(end - smoothing, smoothing));
    EXPECT_LT(std::abs(a - b) / a, 0.05) << "smoothed over the " << smoothing << " steps before " << end;
  }
}

}  // namespace
}  // namespace tandem
