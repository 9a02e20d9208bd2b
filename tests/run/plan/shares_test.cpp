// How a plan shares out the global batch.
#include <gtest/gtest.h>

#include "run/plan/plan.h"
#include "run/plan/plan_refusal.h"
#include "run/tiny_config.h"

namespace tandem {
namespace {

TEST(Shares, AGlobalBatchThatCannotBeSharedOutEvenlyIsSharedOutUnevenly) {
  auto config = tinyConfig();
  config.measurement.scaling = "strong";
  config.step.batch = 64, config.placement.replicas = 6;
  const auto plan = resolvePlan(config);
  EXPECT_EQ(plan.globalBatch, 64);
  EXPECT_EQ(plan.shares, (std::vector<int64_t>{11, 11, 11, 11, 10, 10}));
  EXPECT_EQ(plan.shares, unequalShares(plan));
  EXPECT_EQ(plan.replicaBatch, 11);
  EXPECT_NE(planText(plan).find("11, 11, 11, 11, 10, 10 per replica, 64 global"), std::string::npos);
  config.step.accumulate = 4;
  EXPECT_EQ(resolvePlan(config).shares, (std::vector<int64_t>{12, 12, 12, 12, 8, 8}));
  config.step.accumulate = 1, config.placement.replicas = 4;
  EXPECT_TRUE(unequalShares(resolvePlan(config)).empty());
  config.step.batch = 3;
  EXPECT_NE(refusalOf(config).find("each needs an image"), std::string::npos);
  config.step.batch = 6, config.step.accumulate = 4;
  EXPECT_NE(refusalOf(config).find("the global batch of 6 images cannot be cut"), std::string::npos);
}

TEST(Shares, SharesHaveTheRatioOfSplit) {
  auto config = tinyConfig();
  config.step.batch = 8, config.placement.replicas = 2, config.step.split = "3:1";
  const auto plan = resolvePlan(config);
  EXPECT_EQ(plan.shares, (std::vector<int64_t>{12, 4}));
  EXPECT_EQ(plan.globalBatch, 16);
  config.placement.ranks = 2;
  EXPECT_NE(refusalOf(config).find("it has 2 numbers; give one for each replica"), std::string::npos);
  config.step.split = "1:2:1:4";
  EXPECT_EQ(resolvePlan(config).shares, (std::vector<int64_t>{4, 8, 4, 16}));
  for (const char* strategy : {"independent", "local_sgd"}) {
    config.exchange.strategy = strategy;
    EXPECT_NE(refusalOf(config).find("it sums no gradients"), std::string::npos) << strategy;
  }
  config.step.split = "measured";
  EXPECT_NE(refusalOf(config).find("it sums no gradients"), std::string::npos);
  config.step.split = "equal";
  EXPECT_EQ(refusalOf(config), "");
  config.exchange.strategy = "replicated", config.step.split = "measured", config.step.batch = Config::mostThatFits;
  EXPECT_NE(refusalOf(config).find("--batch=max with --split=measured"), std::string::npos);
}

}  // namespace
}  // namespace tandem
