#include "train/statistics_average.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

namespace tandem {
namespace {

constexpr double decay = 0.8;

AverageStep smoothed() { return {{.decay = decay}, 0, at::kCPU}; }

TEST(StatisticsAverage, IsTimmsAfterTwentySteps) {
  at::manual_seed(1);
  at::Tensor mean = at::zeros({5}), variance = at::ones({5});
  StatisticsAverage average({{"bn.running_mean", mean}, {"bn.running_var", variance}}, smoothed());
  at::Tensor ofMean = mean.to(at::kDouble), ofVariance = variance.to(at::kDouble);
  for (int step = 0; step < 20; ++step) {
    mean.copy_(mean * 0.9 + 0.1 * at::randn({5}));
    variance.copy_(variance * 0.9 + 0.1 * at::rand({5}));
    average.add();
    ofMean = decay * ofMean + (1 - decay) * mean.to(at::kDouble);
    ofVariance = decay * ofVariance + (1 - decay) * variance.to(at::kDouble);
  }
  const StateTensors tensors = average.tensors();
  ASSERT_EQ(tensors.size(), 2U);
  EXPECT_EQ(tensors[0].first, "bn.running_mean");
  EXPECT_LT((tensors[0].second - ofMean).norm().item<double>(), 1e-6);
  EXPECT_LT((tensors[1].second - ofVariance).norm().item<double>(), 1e-6);
  EXPECT_GT((mean - ofMean).norm().item<double>(), 1e-2);
}

TEST(StatisticsAverage, IsExchangedInPlaceAndBack) {
  at::Tensor mean = at::zeros({3});
  StatisticsAverage average({{"bn.running_mean", mean}}, smoothed());
  mean.fill_(5);
  average.add();
  const at::Tensor kept = average.tensors().front().second.clone();
  average.swap();
  EXPECT_TRUE(at::equal(mean, kept));
  EXPECT_TRUE(at::equal(average.tensors().front().second, at::full({3}, 5.0)));
  average.swap();
  EXPECT_TRUE(at::equal(mean, at::full({3}, 5.0)));
  EXPECT_TRUE(at::equal(average.tensors().front().second, kept));
}

TEST(StatisticsAverage, ThatLeadsIsWhatTheStatisticsBecome) {
  at::Tensor mean = at::zeros({3});
  StatisticsAverage average({{"bn.running_mean", mean}}, {{.decay = decay, .every = 2, .leads = true}, 0, at::kCPU});
  for (int64_t step = 0; step < 2; ++step) {
    mean.add_(5);
    average.begin(step);
    average.add();
  }
  EXPECT_TRUE(at::allclose(mean, at::full({3}, 10 * (1 - decay))));
  EXPECT_TRUE(at::equal(mean, average.tensors().front().second));
}

TEST(StatisticsAverage, OfANetworkWithoutBatchNormIsEmpty) {
  StatisticsAverage average({}, smoothed());
  average.add();
  average.swap();
  EXPECT_TRUE(average.tensors().empty());
}

}  // namespace
}  // namespace tandem
