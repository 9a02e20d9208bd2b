#include "train/replica_statistics.h"

#include <gtest/gtest.h>

#include "support/run_ranks.h"
#include "support/run_replicas.h"

namespace tandem {
namespace {

// Of each replica two moments a channel and a number of values, and two sums a channel, in fp64.
TEST(StatisticsTraffic, CountsEachPart) {
  runRanks(2, [](World& world) {
    const auto devices = cpuDevices(2);
    StrategyContext context;
    context.devices = pointersTo(devices), context.world = &world;
    const std::vector<int64_t> channels{5};
    for (const int parts : {1, 3}) {
      const StrategyTraffic traffic = statisticsTraffic(context, channels, parts);
      EXPECT_DOUBLE_EQ(traffic.bytesBetweenRanks, parts * (11 + 10) * 8);
      EXPECT_DOUBLE_EQ(traffic.bytesPerStep, parts * 3 * (11 + 10) * 8);
    }
  });
}

}  // namespace
}  // namespace tandem
