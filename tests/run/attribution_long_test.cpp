#include <iostream>

#include "base/text.h"
#include "run/attribution.h"

namespace tandem::attribution {
namespace {

constexpr int repetitions = 20;
constexpr double tolerance = 0.15;

class LongAttribution : public testing::TestWithParam<std::tuple<int, Expected>> {};

// Needs two cores of its own (make verify-attribution): 5 ms are found with their right size.
TEST_P(LongAttribution, findsFiveMilliseconds) {
  const Expected& expected = std::get<1>(GetParam());
  const Injection injection{expected.place, std::chrono::milliseconds(5)};
  const Found found = run(injection, {.batch = 4, .warmup = 20, .block = 20, .steps = 200});
  const PartChange& first = found.changes.front();
  EXPECT_EQ(first.part->name, expected.part) << textOf(found);
  EXPECT_NEAR(found.growth, seconds(injection.delay), tolerance * seconds(injection.delay)) << textOf(found);
  std::cout << expected.name << ": " << first.part->name << " of replica " << first.replica << ' '
            << fixed(1e3 * found.growth, 3) << " ms\n";
  if (!expected.oneReplica) return;
  EXPECT_EQ(first.replica, slowReplica) << textOf(found);
  const auto last = lastToArrive(found.after);
  ASSERT_TRUE(last);
  EXPECT_TRUE(last->straggler && last->replica == slowReplica) << last->share << ' ' << last->leadSeconds;
}

INSTANTIATE_TEST_SUITE_P(LongDelays, LongAttribution,
                         testing::Combine(testing::Range(0, repetitions), testing::ValuesIn(places)),
                         [](const auto& info) {
                           return concat(std::get<1>(info.param).name, std::get<0>(info.param));
                         });

}  // namespace
}  // namespace tandem::attribution
