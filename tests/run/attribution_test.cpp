#include "run/attribution.h"

#include "base/text.h"

namespace tandem::attribution {
namespace {

class Attribution : public testing::TestWithParam<Expected> {};

// Far above what steps of a busy machine differ by; a sleep is never shorter.
TEST_P(Attribution, namesWhatADelayWasPutInto) {
#ifdef TANDEM_SANITIZED
  GTEST_SKIP() << "a sanitizer's times differ by more than the delay";
#endif
  const Expected& expected = GetParam();
  const Injection injection{expected.place, std::chrono::milliseconds(25)};
  const Found found = run(injection, Length());
  const PartChange& first = found.changes.front();
  EXPECT_EQ(first.part->name, expected.part) << textOf(found);
  EXPECT_GE(first.after, seconds(injection.delay)) << textOf(found);
  const auto last = lastToArrive(found.after);
  ASSERT_TRUE(last);
  if (!expected.oneReplica) {
    EXPECT_EQ(found.changes[1].part->name, expected.part) << "on the other replica too\n" << textOf(found);
    return;
  }
  EXPECT_EQ(first.replica, slowReplica) << textOf(found);
  EXPECT_TRUE(last->straggler) << last->share << ' ' << last->leadSeconds;
  EXPECT_EQ(last->replica, slowReplica);
  const auto idle = std::ranges::find_if(found.changes, [](const PartChange& c) { return c.part->follows; });
  EXPECT_NE(idle->replica, slowReplica) << "the other one waits\n" << textOf(found);
  EXPECT_GT(idle->growth(), seconds(injection.delay) / 2) << textOf(found);
}

INSTANTIATE_TEST_SUITE_P(Delays, Attribution, testing::ValuesIn(places),
                         [](const auto& info) { return std::string(info.param.name); });

}  // namespace
}  // namespace tandem::attribution
