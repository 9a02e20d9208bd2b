#include "run/links/link_order.h"

#include <gtest/gtest.h>

#include "base/error.h"
#include "links_example.h"
#include "machine/cpu/topology.h"
#include "run/links/link_process.h"
#include "run/links/measure_links.h"
#include "support/text_of_failure.h"

namespace tandem {
namespace {

LinkOrder exampleOrder() {
  return {.part = "replicas",
          .sizes = {4, 1024},
          .repeats = 5,
          .seconds = 0.25,
          .replicas = {2, 4},
          .gpus = {1},
          .rank = 1,
          .port = 4711};
}

TEST(LinkOrder, IsTheSameAfterItsText) { EXPECT_EQ(orderOfLinks(textOf(exampleOrder())), exampleOrder()); }

TEST(LinkOrder, OfOtherTextIsRefused) {
  for (const char* text : {"", "{}", "[1", R"({"part": 7})"}) EXPECT_THROW(orderOfLinks(text), UsageError) << text;
}

TEST(LinkSeries, IsTheSameAfterItsText) {
  LinkSeries series = seriesWith({{4, 1.25e-7}, {8, 3e-3}});
  series.copies = 3, series.parties = 5, series.statedBytes = 31.5e9;
  EXPECT_EQ(seriesOf(textOf(series)), series);
}

TEST(LinkSeries, OfOtherTextIsRefused) {
  for (const char* text : {"", "{}", "[]", "7", R"({"kind": "cores"})"})
    EXPECT_THROW(seriesOf(text), InternalError) << text;
  LinkSeries series = seriesWith({});
  series.kind = "pigeons";
  EXPECT_THROW(seriesOf(textOf(series)), InternalError);
}

TEST(LinkLine, HandsOnASeriesOrThrowsTheFailure) {
  std::vector<LinkSeries> found;
  const auto sink = [&](const LinkSeries& series) { found.push_back(series); };
  readLinkLine(textOf(seriesWith({{4, 1}})), sink);
  ASSERT_EQ(found.size(), 1U);
  const std::string line = failureLine(ExitCode::peer, "rank 1\nis gone");
  EXPECT_EQ(line.find('\n'), std::string::npos);
  EXPECT_EQ(textOfFailure<Error>([&] { readLinkLine(line, sink); }), "rank 1\\x0ais gone");
  try {
    readLinkLine(line, sink);
  } catch (const Error& failure) {
    EXPECT_EQ(failure.code(), ExitCode::peer);
  }
  EXPECT_THROW(readLinkLine("failure", sink), InternalError);
  EXPECT_EQ(found.size(), 1U);
}

TEST(LinkLimits, ShareTheSecondsAmongSeriesAndSizes) {
  const RepetitionLimits limits = limitsOf({.part = "", .sizes = {4, 8, 16}, .repeats = 7, .seconds = 6}, 2);
  EXPECT_EQ(limits.most, 7);
  EXPECT_DOUBLE_EQ(limits.seconds, 1);
}

TEST(ReplicaNumbers, DoubleUpToAllCores) {
  using Numbers = std::vector<int64_t>;
  EXPECT_EQ(replicaNumbers(1), Numbers{});
  EXPECT_EQ(replicaNumbers(2), Numbers{2});
  EXPECT_EQ(replicaNumbers(6), (Numbers{2, 4, 6}));
  EXPECT_EQ(replicaNumbers(8), (Numbers{2, 4, 8}));
}

TEST(PairsByPart, HaveTheFirstPairOfEachPart) {
  const std::vector<std::vector<std::string>> shared{{"core", "L2", "L3"}, {"L2", "core", "L3"}, {"L3", "L3", "core"}};
  EXPECT_EQ(pairsByPart({5, 6, 9}, shared), (std::vector<ThreadPair>{{5, 6, "L2"}, {5, 9, "L3"}}));
  EXPECT_TRUE(pairsByPart({5}, {{"core"}}).empty());
}

TEST(LinkMemory, GrowsWithReplicasAndIsRefusedWhereItLacks) {
  LinksRequest request{.sizes = {4, 1000}, .replicas = {2, 4}};
  EXPECT_EQ(bytesOfLinks(request), 8000);
  EXPECT_NO_THROW(checkLinkMemory(request, 8000));
  const std::string refusal = textOfFailure<UsageError>([&] { checkLinkMemory(request, 7999); });
  EXPECT_NE(refusal.find("--sizes=1000"), std::string::npos) << refusal;
  EXPECT_NE(refusal.find("or --replicas"), std::string::npos) << refusal;
  request.replicas.clear();
  EXPECT_EQ(bytesOfLinks(request), 4000) << "two ranks";
}

/// The series that a part hands on, with tiny sizes.
std::vector<LinkSeries> measured(void (*part)(const LinkOrder&, const LinkSink&), std::vector<int64_t> replicas) {
  const LinkOrder order{
      .part = "", .sizes = {4, 40'000}, .repeats = 6, .seconds = 0.01, .replicas = std::move(replicas)};
  std::vector<LinkSeries> found;
  part(order, [&](const LinkSeries& series) { found.push_back(series); });
  return found;
}

bool oneCore() { return readTopology().cores.size() < 2; }

TEST(MeasureReplicas, HandsOnAllSizesOfEachAlgorithm) {
  if (oneCore()) GTEST_SKIP() << "one core, so no two replicas";
  const auto found = measured(measureReplicas, {2});
  EXPECT_GE(found.size(), 2U);
  for (const LinkSeries& series : found) {
    EXPECT_EQ(series.parties, 2);
    ASSERT_EQ(series.times.size(), 2U) << series.way;
    EXPECT_EQ(series.times.back().bytes, 40'000);
    for (const LinkTimes& times : series.times) EXPECT_EQ(times.seconds.size(), 6U) << series.way;
  }
}

TEST(MeasureCores, HandsOnAFlagAndACopyForEachPart) {
  if (oneCore()) GTEST_SKIP() << "one core, so no pair of them";
  const auto found = measured(measureCores, {});
  ASSERT_GE(found.size(), 2U);
  EXPECT_EQ(found[0].times.size(), 1U);
  EXPECT_EQ(found[1].times.size(), 2U);
  EXPECT_EQ(found[0].path, found[1].path);
}

}  // namespace
}  // namespace tandem
