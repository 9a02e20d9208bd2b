// What a plan says of the exchange.
#include <gtest/gtest.h>

#include "run/plan/plan.h"
#include "run/tiny_config.h"

namespace tandem {
namespace {

std::string exchangeOf(const Config& config) {
  const std::string text = planText(resolvePlan(config));
  const size_t begin = text.find("exchange");
  return text.substr(begin, text.find('\n', begin) - begin);
}

TEST(PlanText, SaysHowBucketsAreCutAndSummedAndInWhatType) {
  Config config = tinyConfig();
  EXPECT_EQ(exchangeOf(config), "exchange   replicated, all-reduce owner in buckets of 4 MiB");
  config.exchange.firstBucketMib = 0.5, config.exchange.gradientPrecision = "bf16";
  config.exchange.allReduce = "tree:32k:ring";
  EXPECT_EQ(exchangeOf(config),
            "exchange   replicated, all-reduce tree up to 32 KiB, ring above in buckets of 4 MiB, the first of 0.5, "
            "gradients in bf16");
  config.exchange.gradientPrecision = "fp32";
  EXPECT_EQ(exchangeOf(config).find("gradients"), std::string::npos) << "that is their own type";
}

}  // namespace
}  // namespace tandem
