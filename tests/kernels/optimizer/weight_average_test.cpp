#include "kernels/optimizer/weight_average.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

namespace tandem {
namespace {

TEST(WeightAverage, ChangesAtEveryUpdateThatIsDue) {
  const WeightAverage rule{.decay = 0.8, .every = 3, .leads = true};
  EXPECT_EQ(rule.shareAt(0, 0), 0);
  EXPECT_EQ(rule.shareAt(1, 0), 0);
  EXPECT_DOUBLE_EQ(rule.shareAt(2, 0), 0.2);
  EXPECT_EQ(rule.shareAt(3, 0), 0);
  EXPECT_DOUBLE_EQ(rule.shareAt(5, 0), 0.2);
}

TEST(WeightAverage, ItsDecayGrowsWithThePower) {
  const WeightAverage rule{.decay = 0.8, .every = 5, .leads = true, .power = 3};
  EXPECT_DOUBLE_EQ(rule.shareAt(4, 20), 1 - 0.8 / 64);
  EXPECT_DOUBLE_EQ(rule.shareAt(9, 20), 1 - 0.8 / 8);
  EXPECT_DOUBLE_EQ(rule.shareAt(19, 20), 1 - 0.8);
  EXPECT_DOUBLE_EQ(rule.shareAt(24, 20), 1 - 0.8) << "beyond the end";
}

// What a captured step does, which has one path for all updates, is what the host does by a branch.
TEST(AverageStep, OfACapturedStepIsThatOfTheHost) {
  for (const WeightAverage& rule : {WeightAverage{.decay = 0.8, .every = 3, .leads = true, .power = 2},
                                    {.decay = 0.5, .every = 2, .leads = true},
                                    {.decay = 0.9}}) {
    AverageStep host(rule, 12, at::kCPU), captured(rule, 12, at::kCPU, /*captured=*/true);
    at::Tensor values = at::arange(7, at::kFloat).cos(), other = values.clone(), average = values.clone(),
               otherAverage = values.clone();
    int64_t led = 0;
    for (int64_t update = 0; update < 12; ++update) {
      const at::Tensor change = (at::arange(7, at::kFloat) + static_cast<double>(update)).sin();
      values.add_(change), other.add_(change);
      const at::Tensor before = values.clone();
      host.begin(update), captured.begin(update);
      host.add(average, values), captured.add(otherAverage, other);
      EXPECT_TRUE(at::equal(values, other)) << update;
      EXPECT_TRUE(at::allclose(average, otherAverage, 1e-6, 1e-6)) << update;
      led += at::equal(values, before) ? 0 : 1;
    }
    EXPECT_EQ(led, rule.leads ? 12 / rule.every : 0);
  }
}

}  // namespace
}  // namespace tandem
