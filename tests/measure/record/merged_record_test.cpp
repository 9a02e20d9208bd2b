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

// A rank that only serves has no replicas, but memory, and what it knows of the updates.
TEST(MergedRecord, OfServersAndRanksThatTrain) {
  RunRecord server = rank(0, 12, "z");
  server.placement.replicas.clear(), server.steps.clear(), server.losses.clear();
  server.skippedSteps = -1, server.lossScale = 0;
  server.staleness = {30, 2, 5};
  RunRecord other = server;
  other.staleness = {30, 1, 2};
  std::vector<RunRecord> ranks{rank(1, 7, "x"), rank(2, 9, "y"), server, other};
  for (RunRecord* each : {&ranks[0], &ranks[1]}) {
    each->skippedSteps = 1, each->lossScale = 512;
    each->staleness = {0, 0, 0};  // it serves nothing
  }
  const RunRecord all = mergedRecord(ranks);
  EXPECT_EQ(all.placement.replicas.size(), 4U);
  EXPECT_EQ(all.steps.size(), 4U);
  EXPECT_EQ(all.losses, std::vector<double>{1.5});
  EXPECT_EQ(all.window, Nanos(12));
  EXPECT_EQ(all.peakMemoryBytes, 400);
  EXPECT_EQ(all.lossScale, 512);
  EXPECT_EQ(all.skippedSteps, 1);
  EXPECT_EQ(all.staleness, (StalenessRecord{30, 1.5, 5}));
}

RunRecord rankOn(const std::string& host, double joules) {
  RunRecord record = rank(1, 1, "");
  record.environment.host = host;
  record.energyJoules = joules;
  return record;
}

// Only the first rank of a host samples it.
TEST(MergedRecord, KeepsWhatIsKnownOfEachHost) {
  std::vector<RunRecord> ranks{rankOn("x", 5), rankOn("x", 0), rankOn("y", 7), rankOn("y", 0)};
  ranks[0].telemetry.at = {Nanos(1)};
  ranks[2].telemetry.at = {Nanos(2)};
  ranks[2].environment.cores = 48;
  ranks[2].flopsPeak = 3, ranks[2].bytesPeak = 4;
  ranks[3].interference = {.signs = {{"stolen", 4}}, .reasons = {"stolen for 4 %"}};
  const RunRecord all = mergedRecord(ranks);
  EXPECT_EQ(all.environment, ranks[0].environment);
  EXPECT_EQ(all.telemetry, ranks[0].telemetry);
  EXPECT_EQ(all.energyJoules, 12);
  EXPECT_EQ(all.peakMemoryBytes, 400);
  EXPECT_EQ(all.placement.replicas[0], "a on x");
  EXPECT_EQ(all.placement.replicas[7], "b on y");
  EXPECT_EQ(all.interference.reasons, std::vector<std::string>{"y: stolen for 4 %"});
  ASSERT_EQ(all.otherHosts.size(), 1U);
  const HostRecord& other = all.otherHosts[0];
  EXPECT_EQ(other.environment, ranks[2].environment);
  EXPECT_EQ(other.telemetry, ranks[2].telemetry);
  EXPECT_EQ(other.replicas, 4);
  EXPECT_EQ(other.peakMemoryBytes, 200);
  EXPECT_EQ(other.energyJoules, 7);
  EXPECT_EQ(other.interference.signs.at("stolen"), 4);
  EXPECT_EQ(sumOverHosts(all, 10, &HostRecord::flopsPeak), 13);
  EXPECT_EQ(sumOverHosts(all, 0, &HostRecord::bytesPeak), 0) << "not known of all";
}

TEST(MergedRecord, EnergyIsKnownIfAllHostsHaveMeters) {
  EXPECT_EQ(mergedRecord({rankOn("x", 5), rankOn("y", 0)}).energyJoules, 0);
  EXPECT_EQ(mergedRecord({rankOn("x", 5), rankOn("x", 0)}).energyJoules, 5) << "of one host";
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
