#include "run/links/link_arithmetic.h"

#include <gtest/gtest.h>

#include "base/error.h"
#include "links_example.h"

namespace tandem {
namespace {

TEST(LinkBandwidth, OfAnAllReduceIsThatOfTheBus) {
  LinkSeries series = seriesWith({{1000, 1e-6}});
  const std::vector<std::pair<int, double>> factors{{2, 1}, {3, 4.0 / 3}, {4, 1.5}, {8, 1.75}};
  for (const auto& [parties, factor] : factors) {
    series.parties = parties;
    EXPECT_DOUBLE_EQ(algorithmBandwidth(series, series.times[0]), 1e9) << parties;
    EXPECT_DOUBLE_EQ(busBandwidth(series, series.times[0]), factor * 1e9) << parties;
  }
}

TEST(LinkBandwidth, OfACopyOrBroadcastIsTheAlgorithms) {
  for (const char* kind : {"cores", "rank-broadcast", "host-gpu", "gpu-gpu"}) {
    LinkSeries series = seriesWith({{1000, 1e-6}}, "", kind);
    series.parties = 8;
    EXPECT_DOUBLE_EQ(busBandwidth(series, series.times[0]), 1e9) << kind;
  }
}

TEST(LinkBandwidth, CountsAllCopiesThatAreUnderWay) {
  LinkSeries series = seriesWith({{1000, 1e-6}}, "", "gpu-gpu");
  series.copies = 6;
  EXPECT_DOUBLE_EQ(algorithmBandwidth(series, series.times[0]), 6e9);
}

TEST(LinkBandwidth, OfATimeThatTheClockDoesNotSeeIsZero) {
  const LinkSeries series = seriesWith({{4, 0}});
  EXPECT_EQ(algorithmBandwidth(series, series.times[0]), 0);
}

TEST(LinkBandwidth, FastestSizeIsTheOneWithTheMostBytesPerSecond) {
  const LinkSeries series = seriesWith({{4, 1e-6}, {4096, 2e-6}, {65536, 100e-6}});
  EXPECT_EQ(fastestSize(series)->bytes, 4096);
  EXPECT_EQ(fastestSize(seriesWith({})), nullptr);
}

TEST(LinkTimes, AreTheMedianWithItsInterval) {
  const LinkTimes times{.bytes = 4, .seconds = {5, 1, 2, 7, 4, 3, 6, 9, 80}};
  EXPECT_DOUBLE_EQ(typicalSeconds(times), 5);
  EXPECT_DOUBLE_EQ(*spreadPercent(times), 80) << "the second smallest is 2, the second largest 9";
  EXPECT_EQ(spreadPercent({.bytes = 4, .seconds = {3, 3, 3, 3, 3}}), std::nullopt);
  EXPECT_EQ(spreadPercent({.bytes = 4, .seconds = {3, 3, 3, 3, 3, 3}}), 0);
  EXPECT_THROW(typicalSeconds({.bytes = 4, .seconds = {}}), InternalError);
}

TEST(MedianInterval, HasTheRanksOfTheTables) {
  const std::vector<std::pair<size_t, size_t>> ranks{{0, 0}, {5, 0}, {6, 1}, {8, 1}, {9, 2}, {20, 6}, {100, 40}};
  for (const auto& [values, rank] : ranks) EXPECT_EQ(rankOfMedianInterval(values), rank) << values;
}

TEST(SecondsAt, LieOnLinesBetweenMeasuredSizes) {
  const LinkSeries series = seriesWith({{100, 1.0}, {200, 3.0}, {1000, 4.0}});
  const std::vector<std::pair<double, double>> cases{{100, 1.0}, {150, 2.0}, {200, 3.0}, {600, 3.5}, {1000, 4.0}};
  for (const auto& [bytes, seconds] : cases) EXPECT_DOUBLE_EQ(secondsAt(series, bytes), seconds) << bytes;
}

TEST(SecondsAt, BeyondTheSizesAreTheSmallestTimeAndInProportion) {
  const LinkSeries series = seriesWith({{100, 1.0}, {200, 3.0}});
  EXPECT_DOUBLE_EQ(secondsAt(series, 4), 1.0);
  EXPECT_DOUBLE_EQ(secondsAt(series, 400), 6.0);
  EXPECT_FALSE(isBeyond(series, 200));
  EXPECT_TRUE(isBeyond(series, 201));
  EXPECT_THROW(secondsAt(seriesWith({}), 4), InternalError);
}

TEST(LargestWithin, IsTheInverseOfSecondsAt) {
  const LinkSeries series = seriesWith({{100, 1.0}, {200, 3.0}, {1000, 4.0}});
  for (const double bytes : {100.0, 130.0, 200.0, 777.0, 1000.0, 5000.0}) {
    EXPECT_NEAR(largestWithin(series, secondsAt(series, bytes)), bytes, 1e-9 * bytes);
  }
  EXPECT_EQ(largestWithin(series, 0.99), 0) << "the smallest takes longer";
  EXPECT_EQ(largestWithin(seriesWith({}), 1), 0);
}

TEST(LargestWithin, TakesTheLargerSizeWhereNoiseMadeItFaster) {
  const LinkSeries series = seriesWith({{100, 1.0}, {200, 9.0}, {400, 2.0}, {800, 8.0}});
  EXPECT_DOUBLE_EQ(largestWithin(series, 5.0), 600);
}

TEST(FastestWay, DependsOnTheSize) {
  const LinkSeries quick = seriesWith({{100, 1.0}, {1000, 100.0}}, "tree"),
                   wide = seriesWith({{100, 5.0}, {1000, 6.0}});
  const std::vector<const LinkSeries*> ways{&quick, &wide};
  EXPECT_EQ(fastestWay(ways, 100)->way, "tree");
  EXPECT_EQ(fastestWay(ways, 1000)->way, "ring");
  const LinkSeries empty = seriesWith({});
  EXPECT_EQ(fastestWay(std::vector{&empty}, 1), nullptr);
}

TEST(Pcie, BandwidthFollowsGenerationAndLanes) {
  EXPECT_DOUBLE_EQ(pcieBandwidth(1, 16), 4e9);
  EXPECT_NEAR(pcieBandwidth(3, 16), 15.754e9, 1e6);
  EXPECT_NEAR(pcieBandwidth(4, 16), 31.508e9, 1e6);
  EXPECT_NEAR(pcieBandwidth(5, 8), 31.508e9, 1e6);
  EXPECT_NEAR(pcieBandwidth(6, 16), 121e9, 1e6);
  for (const auto& [generation, lanes] : {std::pair{0, 16}, {7, 16}, {-1, 16}, {4, 0}}) {
    EXPECT_EQ(pcieBandwidth(generation, lanes), 0) << generation << ' ' << lanes;
  }
}

/// Two sockets of two L3, each with two cores.
std::vector<std::vector<std::string>> eightCores() {
  std::vector<std::vector<std::string>> shared(8, std::vector<std::string>(8));
  for (size_t i = 0; i < 8; ++i) {
    for (size_t j = 0; j < 8; ++j) {
      shared[i][j] = i == j ? "core" : i / 2 == j / 2 ? "L3" : i / 4 == j / 4 ? "NUMA node" : "machine";
    }
  }
  return shared;
}

std::vector<std::pair<size_t, size_t>> joined(size_t most) {
  std::vector<std::pair<size_t, size_t>> parts;
  for (const CorePart& part : joinedCores(eightCores(), most)) parts.emplace_back(part.first, part.last);
  return parts;
}

TEST(JoinedCores, AreThoseThatShareTheSmallestPart) {
  using Parts = std::vector<std::pair<size_t, size_t>>;
  EXPECT_EQ(joined(8).size(), 8U);
  EXPECT_EQ(joined(7), (Parts{{0, 1}, {2, 3}, {4, 5}, {6, 7}}));
  EXPECT_EQ(joined(3), (Parts{{0, 3}, {4, 7}}));
  EXPECT_EQ(joined(1), (Parts{{0, 7}}));
}

}  // namespace
}  // namespace tandem
