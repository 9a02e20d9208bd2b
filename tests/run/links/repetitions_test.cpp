#include "run/links/repetitions.h"

#include <gtest/gtest.h>

#include <atomic>
#include <stdexcept>
#include <system_error>

#include "base/error.h"
#include "support/few_threads.h"

namespace tandem {
namespace {

TEST(CallsPerRepetition, LastAMillisecond) {
  EXPECT_EQ(callsPerRepetition(2e-3), 1);
  EXPECT_EQ(callsPerRepetition(1e-3), 1);
  EXPECT_EQ(callsPerRepetition(1e-5), 100);
  EXPECT_EQ(callsPerRepetition(3e-4), 4);
  EXPECT_EQ(callsPerRepetition(1e-12), 10'000);
  EXPECT_EQ(callsPerRepetition(0), 10'000);
}

TEST(Repetitions, EndAtTheirNumberAndAreOfOneCall) {
  SoleParty alone;
  std::vector<int64_t> asked;
  const LinkTimes times = timesOf(alone, {.most = 7, .seconds = 1e6}, [&](int64_t calls) {
    asked.push_back(calls);
    return 1e-4 * static_cast<double>(calls);
  });
  EXPECT_EQ(asked, (std::vector<int64_t>{1, 1, 1, 1, 10, 10, 10, 10, 10, 10, 10}));
  EXPECT_EQ(times.calls, 10);
  ASSERT_EQ(times.seconds.size(), 7U);
  for (const double seconds : times.seconds) EXPECT_DOUBLE_EQ(seconds, 1e-4);
}

TEST(Repetitions, TakeTheQuickestTrialForTheirCalls) {
  SoleParty alone;
  int call = 0;
  const LinkTimes times = timesOf(alone, {.most = 6, .seconds = 0}, [&](int64_t) { return ++call == 3 ? 1e-4 : 1.0; });
  EXPECT_EQ(times.calls, 10) << "a disturbed trial does not make a repetition short";
}

TEST(Repetitions, AreSixWhereTimeIsOver) {
  SoleParty alone;
  EXPECT_EQ(timesOf(alone, {.most = 50, .seconds = 0}, [](int64_t) { return 1.0; }).seconds.size(), 6U);
}

TEST(Repetitions, TakeTheTimeOfTheSlowestParty) {
  constexpr int count = 3;
  Monitor monitor(/*block=*/true);
  const auto parties = threadParties(monitor, count);
  std::vector<LinkTimes> found(count);
  onThreads(monitor, count, [&](int party) {
    const auto at = static_cast<size_t>(party);
    found[at] = timesOf(*parties[at], {.most = 6, .seconds = 1e6},
                        [&](int64_t calls) { return (1.0 + party) * static_cast<double>(calls); });
  });
  for (const LinkTimes& times : found) EXPECT_EQ(times.seconds, (std::vector<double>(6, 3)));
}

TEST(OnThreads, AFailureEndsTheOthersAndIsTheOneThrown) {
  Monitor monitor(/*block=*/true);
  const auto parties = threadParties(monitor, 2);
  std::atomic<bool> freed{false};
  const auto run = [&](int party) {
    if (party == 0) throw std::runtime_error("out of luck");
    try {
      parties[1]->largest(0);
    } catch (const PeerError&) {
      freed = true;
      throw;
    }
  };
  EXPECT_THROW(onThreads(monitor, 2, run), std::runtime_error);
  EXPECT_TRUE(freed);
}

TEST(OnThreads, AThreadThatTheSystemRefusesEndsTheOthers) {
#ifdef TANDEM_SANITIZED
  GTEST_SKIP() << "a sanitizer needs address space without a limit";
#endif
  Monitor monitor(/*block=*/true);
  constexpr int count = 64;
  const auto parties = threadParties(monitor, count);
  const FewThreads few(16);
  EXPECT_THROW(onThreads(monitor, count, [&](int party) { parties[static_cast<size_t>(party)]->largest(0); }),
               std::system_error);
}

}  // namespace
}  // namespace tandem
