#include "machine/cpu/system_counters.h"

#include <gtest/gtest.h>

#include "machine/cpu/topology.h"

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

std::vector<int> allCpus() {
  std::vector<int> cpus;
  for (const Core& core : readTopology().cores) cpus.insert(cpus.end(), core.threads.begin(), core.threads.end());
  return cpus;
}

// The kernel counts busy time in ticks of up to 10 ms and by a clock of its own: half of the work must be in it.
TEST(SystemCounters, OwnWorkIsCountedByTheProcessAndByItsCpus) {
  constexpr milliseconds work{300};
  const std::vector<int> cpus = allCpus();
  const SystemCounters before = readCounters(cpus);
  ASSERT_TRUE(before.own && before.busy && before.stolen);
  SystemCounters after = before;
  while (*after.own - *before.own < work) after = readCounters(cpus);
  EXPECT_GE(*after.busy - *before.busy, work / 2);
  EXPECT_GE(*after.stolen, *before.stolen);
  EXPECT_GE(*after.sinceBoot - *before.sinceBoot, work / 2);
}

TEST(SystemCounters, WhatIsKnownOnceStaysKnownAndNeverShrinks) {
  const std::vector<int> cpus = allCpus();
  const SystemCounters before = readCounters(cpus), after = readCounters(cpus);
  const auto expectGrows = [](const auto& first, const auto& second, const char* what) {
    ASSERT_EQ(first.has_value(), second.has_value()) << what;
    if (!first) return;
    EXPECT_GE(*second, *first) << what;
  };
  expectGrows(before.queued, after.queued, "queued");
  expectGrows(before.throttled, after.throttled, "throttled");
  expectGrows(before.pressure, after.pressure, "pressure");
  expectGrows(before.involuntary, after.involuntary, "involuntary");
}

TEST(SystemCounters, ACpuThatThisMachineLacksMakesItsTimesUnknown) {
  const std::vector<int> missing{1 << 20};
  const SystemCounters counters = readCounters(missing);
  EXPECT_FALSE(counters.busy || counters.stolen);
  EXPECT_TRUE(counters.own);
}

}  // namespace
}  // namespace tandem
