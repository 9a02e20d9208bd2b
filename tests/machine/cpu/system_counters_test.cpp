#include "machine/cpu/system_counters.h"

#include <gtest/gtest.h>

#include "machine/cpu/host_facts.h"

namespace tandem {
namespace {

using std::chrono::milliseconds;

// user nice system idle iowait irq softirq steal guest guest_nice, in ticks of 10 ms
constexpr const char* stat =
    "cpu  30 0 0 0 0 0 0 9 0 0\n"
    "cpu0 10 1 2 1000 50 3 4 5 10 0\n"
    "cpu10 20 0 0 1000 0 0 0 4 0 0\n"
    "intr 12345 1 2 3\n";

TEST(SystemCounters, BusyIsEverythingButIdleWaitingAndStolen) {
  const std::vector<int> cpus{0, 10};
  const auto times = cpuTimes(stat, cpus);
  ASSERT_TRUE(times);
  EXPECT_EQ((*times)[0].busy, milliseconds(200));
  EXPECT_EQ((*times)[0].stolen, milliseconds(50));
  EXPECT_EQ((*times)[1].busy, milliseconds(200));
}

TEST(SystemCounters, ACpuThatIsNotListedMakesAllUnknown) {
  const std::vector<int> missing{0, 1}, first{0};
  EXPECT_FALSE(cpuTimes(stat, missing));
  EXPECT_FALSE(cpuTimes("", first));
  EXPECT_FALSE(cpuTimes("cpu0 10 1 2\n", first));
  EXPECT_FALSE(cpuTimes("cpu0 many 1 2 3 4 5 6 7\n", first));
}

TEST(SystemCounters, OwnWorkIsCounted) {
  const SystemCounters before = readCounters({});
  volatile double sink = 0;
  while (now() - before.steady < milliseconds(200)) sink = sink + 1;
  const SystemCounters after = readCounters({});
  ASSERT_TRUE(before.own && after.own);
  EXPECT_GT(*after.own, *before.own);
  EXPECT_GE(*after.sinceBoot - *before.sinceBoot, milliseconds(200));
}

}  // namespace
}  // namespace tandem
