#include "comm/clock_offsets.h"

#include <gtest/gtest.h>

#include "base/text.h"
#include "support/run_ranks.h"

namespace tandem {
namespace {

// Each message takes 3 on the way there and 5 back, and the other clock is 1000 ahead.
TEST(OffsetOf, LiesBetweenWhatAMessageEachWayAllows) {
  const ClockRound round{.said = Nanos(0), .heard = Nanos(5), .otherSaid = Nanos(1000), .otherHeard = Nanos(1003)};
  const ClockOffset offset = offsetOf(std::span(&round, 1));
  EXPECT_EQ(offset.error, Nanos(4));
  EXPECT_EQ(offset.ahead, Nanos(999));
}

TEST(OffsetOf, TheFastestMessagesCount) {
  const ClockRound rounds[] = {
      {.said = Nanos(0), .heard = Nanos(2), .otherSaid = Nanos(-100), .otherHeard = Nanos(700)},
      {.said = Nanos(1000), .heard = Nanos(9000), .otherSaid = Nanos(900), .otherHeard = Nanos(904)}};
  EXPECT_EQ(offsetOf(rounds), (ClockOffset{.ahead = Nanos(-99), .error = Nanos(3)}));
}

TEST(ClockOffsets, AreThoseOfTheHosts) {
  constexpr Nanos hour = std::chrono::hours(1);
  runRanks(4, [&](World& world) {
    const int rank = world.place().rank, host = rank / 2;
    const auto clock = [&] { return now() - host * hour; };
    const auto offsets = clockOffsets(world, concat("host", host), clock);
    ASSERT_EQ(offsets.size(), 4U);
    EXPECT_EQ(offsets[0], ClockOffset());
    EXPECT_EQ(offsets[1], ClockOffset()) << "of one host";
    EXPECT_EQ(offsets[2], offsets[3]);
    EXPECT_GT(offsets[2].error, Nanos{});
    EXPECT_LE(std::chrono::abs(offsets[2].ahead + hour), offsets[2].error);
    EXPECT_LT(offsets[2].error, std::chrono::minutes(1));
  });
}

}  // namespace
}  // namespace tandem
