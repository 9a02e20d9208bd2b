#include "machine/process/process_times.h"

#include <gtest/gtest.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <csignal>

namespace tandem {
namespace {

using std::chrono::milliseconds;

TEST(ProcessTimes, TheBusiestIsTheOneWhoseTimeGrewMost) {
  const std::vector<ProcessTime> before{{1, "init", milliseconds(900)}, {2, "make", milliseconds(10)}};
  const std::vector<ProcessTime> after{{1, "init", milliseconds(910)},
                                       {2, "make", milliseconds(60)},
                                       {3, "cc1plus", milliseconds(40)},
                                       {4, "tandem", milliseconds(4000)}};
  const std::vector<int> apart{4};
  const auto most = busiest(before, after, apart);
  ASSERT_TRUE(most);
  EXPECT_EQ(most->id, 2);
  EXPECT_EQ(most->name, "make");
  EXPECT_EQ(most->used, milliseconds(50));
  EXPECT_FALSE(busiest(after, after, apart)) << "nobody used any time";
}

TEST(ProcessTimes, TimesOfSomeAreAddedUp) {
  const std::vector<ProcessTime> before{{1, "a", Nanos(10)}, {2, "b", Nanos(20)}, {4, "d", Nanos(1)}};
  const std::vector<ProcessTime> after{{1, "a", Nanos(15)}, {2, "b", Nanos(90)}, {3, "c", Nanos(7)}};
  EXPECT_EQ(usedBy(std::vector{1, 3, 4}, before, after), Nanos(12));
  EXPECT_EQ(usedBy({}, before, after), Nanos{});
}

TEST(ProcessTimes, ABusyChildIsFound) {
  const auto before = processTimes();
  std::vector<int> others;
  for (const ProcessTime& process : before) others.push_back(process.id);
  const int child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    for (std::atomic<uint64_t> turns = 0;; ++turns) {
    }
  }
  std::optional<ProcessTime> found;
  const Nanos end = now() + std::chrono::seconds(20);
  while (!(found && found->id == child) && now() < end) {
    usleep(20'000);
    found = busiest(before, processTimes(), others);
  }
  EXPECT_EQ(kill(child, SIGKILL), 0);
  EXPECT_EQ(waitpid(child, nullptr, 0), child);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->id, child);
  EXPECT_GT(found->used, Nanos{});
  EXPECT_NE(std::ranges::find(others, getpid()), others.end()) << "this process is among them";
}

}  // namespace
}  // namespace tandem
