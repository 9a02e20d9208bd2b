#include "measure/record/merged_record.h"

#include <gtest/gtest.h>

#include <limits>

namespace tandem {
namespace {

/// Of two replicas, with one step each.
RunRecord rank(double loss, int64_t window, const std::string& note) {
  RunRecord record;
  record.placement.replicas = {"a", "b"};
  record.steps = {{.replica = 0, .wall = Nanos(1)}, {.replica = 1, .wall = Nanos(2)}};
  record.losses = {loss};
  record.window = Nanos(window);
  record.peakMemoryBytes = 100;
  record.notes = {"shared", note};
  return record;
}

TEST(MergedRecord, OfOneRankIsThatRanks) {
  const RunRecord one = rank(3, 7, "x");
  EXPECT_EQ(mergedRecord({one}), one);
}

TEST(MergedRecord, CountsReplicasOnAndKeepsTheLongestTimes) {
  const RunRecord all = mergedRecord({rank(1, 7, "x"), rank(2, 9, "y"), rank(6, 8, "z")});
  ASSERT_EQ(all.steps.size(), 6U);
  for (int i = 0; i < 6; ++i) EXPECT_EQ(all.steps[static_cast<size_t>(i)].replica, i);
  EXPECT_EQ(all.placement.replicas.size(), 6U);
  EXPECT_EQ(all.losses, std::vector<double>{3});
  EXPECT_EQ(all.window, Nanos(9));
  EXPECT_EQ(all.peakMemoryBytes, 300);
  EXPECT_EQ(all.notes, (std::vector<std::string>{"shared", "x", "y", "z"}));
}

TEST(MergedRecord, WhatDisturbedOneRankDisturbedTheRun) {
  const double unknown = std::numeric_limits<double>::quiet_NaN();
  RunRecord quiet = rank(1, 1, ""), disturbed = rank(1, 1, "");
  quiet.interference.signs = {{"stolen", 0.1}, {"stopped", unknown}};
  disturbed.interference = {.signs = {{"stolen", 4}, {"stopped", 2}}, .reasons = {"stolen for 4 %"}};
  const RunRecord all = mergedRecord({quiet, disturbed});
  EXPECT_EQ(all.interference.signs.at("stolen"), 4);
  EXPECT_EQ(all.interference.signs.at("stopped"), 2);
  EXPECT_FALSE(all.valid());
}

}  // namespace
}  // namespace tandem
