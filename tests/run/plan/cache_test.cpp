// --cache in a plan.
#include <gtest/gtest.h>

#include "run/plan/plan.h"
#include "run/plan/plan_refusal.h"
#include "run/ten_images.h"
#include "run/tiny_config.h"

namespace tandem {
namespace {

TEST(Cache, OnlySamplesThatAreReadFromFilesAreKept) {
  auto config = tinyConfig();
  config.input.cacheGib = 0.25;
  EXPECT_NE(refusalOf(config).find("--cache=0.25: images that --data does not name"), std::string::npos);
  config.input.data = tenImages();
  EXPECT_NE(refusalOf(config).find("its images are all in memory; leave it out"), std::string::npos);
  config.input.data = tenFiles();
  EXPECT_EQ(refusalOf(config), "");
  config.input.cacheGib = 500'000;
  EXPECT_NE(refusalOf(config).find("--cache=500000 GiB is more than the "), std::string::npos) << refusalOf(config);
}

TEST(Cache, RanksOfAHostShareTheCache) {
  auto config = tinyConfig();
  config.input.data = tenFiles();
  config.input.cacheGib = 1;
  EXPECT_EQ(cacheBytesOfRank(resolvePlan(config)), int64_t{1} << 30);
  config.placement.ranks = 2;
  EXPECT_EQ(cacheBytesOfRank(resolvePlan(config)), int64_t{1} << 29);
}

}  // namespace
}  // namespace tandem
