#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <numeric>

#include "base/clock.h"
#include "base/text.h"
#include "compared_ranks.h"
#include "machine/cpu/host_facts.h"

namespace tandem {
namespace {

TEST(Ranks, MakeOneTableWithReplicas) { expectOneTable("1,2", 4); }

TEST(Ranks, OfTwoReplicasTrainTheSameBitsInOneProcessAndInTwo) { expectTheSameBitsInOneProcessAndInTwo("resnet20"); }

// Without --deterministic kernels are measured. Rank 0 does, for all: so the weights of all ranks are equal, which
// every run checks.
TEST(Ranks, RunTheKernelsThatRankZeroChose) {
  const auto records = measured({"--model=resnet20", "--classes=10", "--layout=auto", "--convolution=auto", "--steps=2",
                                 "--ranks=2", "--refresh-kernels"});
  ASSERT_EQ(records.size(), 1U);
  EXPECT_EQ(records[0].outcome.kind, OutcomeKind::ok) << records[0].outcome.reason;
  EXPECT_NE(records[0].placement.kernels, "");
}

TEST(Ranks, ShareTheGlobalBatchUnderStrongScaling) {
  const auto records =
      measured({"--model=trivial", "--classes=10", "--steps=2", "--ranks=2", "--replicas=2", "--scaling=strong"});
  ASSERT_EQ(records.size(), 1U);
  EXPECT_EQ(records[0].globalBatch, 4);
}

// That of --strategy=parameter_server is in servers_cli_test.cpp.
TEST(Ranks, EveryStrategyThatCrossesThemGivesAllTheSameWeights) {
  expectEqualWeights({"--all-reduce=ring,halving_doubling"}, 2);
  expectEqualWeights({"--strategy=local_sgd", "--sync-every=2", "--block-momentum=0.5"}, 1);
  expectEqualWeights({"--strategy=compressed", "--compression=powersgd"}, 1);
}

// Gradients of lenet5 in fp16: a bucket of 15 KiB, then two of more.
TEST(Ranks, TheRecordSaysWhatSummedWhichBucketsAndInWhatType) {
  const auto records =
      measured({"--model=lenet5", "--steps=2", "--ranks=2", "--replicas=2", "--bucket-mib=0.05",
                "--first-bucket-mib=0.01", "--all-reduce=tree:32k:hierarchical", "--gradient-precision=fp32,fp16"});
  ASSERT_EQ(records.size(), 2U);
  const std::string& sums = records[1].placement.allReduce;
  EXPECT_TRUE(sums.starts_with("tree for ") && sums.find(" of up to 32 KiB, hierarchical for ") != sums.npos) << sums;
  EXPECT_EQ(records[0].placement.update, "");
  EXPECT_EQ(records[1].placement.update, "replicated with gradients in fp16");
  EXPECT_GT(records[1].lossScale, 0);
  EXPECT_LT(records[1].traffic.bytesPerStep, 0.8 * records[0].traffic.bytesPerStep);
}

TEST(Ranks, AreComparedWithOneReplicaOnTheJoinedBatch) {
  const auto records = measured({"--model=lenet5", "--steps=2", "--ranks=2", "--replicas=2", "--verify=on"});
  ASSERT_EQ(records.size(), 1U);
  ASSERT_TRUE(records[0].equality.has_value());
  const EqualityStamp& stamp = *records[0].equality;
  ASSERT_EQ(stamp.reason, "");
  EXPECT_LT(stamp.error.whole, 4 * stamp.plain.front().error.whole);
  EXPECT_LT(stamp.differenceOfReplicas, 1e-5);
  EXPECT_GE(stamp.differenceOfReplicas, 0);
}

TEST(Ranks, AreProfiledTogether) {
  const std::string trace = ownFolder() + "/ranks.pftrace";
  const auto records = measured(
      {"--model=lenet5", "--steps=30", "--ranks=2", "--replicas=2", "--profile", "--trace=" + trace, "--verify=off"});
  ASSERT_EQ(records.size(), 1U);
  ASSERT_TRUE(records[0].profile.has_value());
  const Profile& profile = *records[0].profile;
  ASSERT_EQ(profile.replicas.size(), 4U);
  for (const ReplicaProfile& replica : profile.replicas) EXPECT_EQ(replica.steps.size(), 30U);
  EXPECT_EQ(profile.clockError, Nanos{}) << "ranks of one host have one clock";
  ASSERT_FALSE(profile.exchanges.empty());
  EXPECT_EQ(profile.exchanges[0].after.size(), 4U);
  // All replicas meet in each exchange, so no step begins when another replica has begun the next but one.
  for (size_t step = 0; step + 2 < 30; ++step) {
    for (const ReplicaProfile& one : profile.replicas) {
      for (const ReplicaProfile& other : profile.replicas) {
        EXPECT_LT(one.steps[step].begin, other.steps[step + 2].begin);
      }
    }
  }
  std::ifstream file(trace, std::ios::binary);
  const std::string text(std::istreambuf_iterator<char>(file), {});
  for (const char* track : {"replica 0, cpu:0 on cores", "replica 3, cpu:1 on cores"}) {
    EXPECT_NE(text.find(track), std::string::npos) << track;
  }
}

TEST(Ranks, OfUnequalSharesTrainAsOneReplica) {
  const auto records = measured({"--model=lenet5", "--steps=2", "--ranks=2", "--split=3:1", "--verify=on"});
  ASSERT_EQ(records.size(), 1U);
  EXPECT_EQ(records[0].placement.shares, (std::vector<int64_t>{6, 2}));
  ASSERT_EQ(records[0].equality.value().reason, "");
  EXPECT_LT(records[0].equality->error.whole, 4 * records[0].equality->plain.front().error.whole);
}

TEST(Ranks, MeasureTheirShares) {
  const auto records = measured({"--model=lenet5", "--steps=5", "--ranks=2", "--replicas=2", "--split=measured"});
  ASSERT_EQ(records.size(), 1U);
  const std::vector<int64_t>& shares = records[0].placement.shares;
  EXPECT_EQ(records[0].globalBatch, 16);
  const int64_t sum = std::accumulate(shares.begin(), shares.end(), int64_t{0});
  EXPECT_TRUE(shares.empty() || sum == 16) << sum;
}

// Where another program fails: six devices that gather outputs, and 32 images.
TEST(Ranks, SixReplicasShareABatchThatSixDoesNotDivide) {
  for (const char* lossAt : {"--loss-at=gathered", "--loss-at=replica"}) {
    const auto records =
        measured({"--model=lenet5", "--steps=3", "--replicas=6", "--scaling=strong", "--batch=32", lossAt});
    ASSERT_EQ(records.size(), 1U);
    EXPECT_EQ(records[0].placement.shares, (std::vector<int64_t>{6, 6, 5, 5, 5, 5}));
    EXPECT_EQ(records[0].globalBatch, 32);
  }
}

/// A rank by hand that is alone on a host of that name.
std::unique_ptr<Tandem> rankOnHost(int rank, const std::string& host, std::vector<std::string> more) {
  std::vector<std::string> arguments{
      "-r", "--uts", "bash", "-c", "hostname \"$0\" && exec \"$@\"", host, TANDEM_BINARY_DIR "/tandem"};
  more.emplace_back("--interface=lo");
  const auto bench = benchOf(more);
  arguments.insert(arguments.end(), bench.begin(), bench.end());
  const std::map<std::string, std::string> place{{"RANK", concat(rank)},       {"WORLD_SIZE", "2"},
                                                 {"LOCAL_RANK", "0"},          {"LOCAL_WORLD_SIZE", "1"},
                                                 {"MASTER_ADDR", "127.0.0.1"}, {"MASTER_PORT", "29713"}};
  return std::make_unique<Tandem>(arguments, place, "/usr/bin/unshare");
}

TEST(Ranks, OfTwoHostsMakeOneRecordOfBoth) {
  if (std::system("unshare -r --uts true 2>/dev/null") != 0) GTEST_SKIP() << "no host can be imitated here";
  const std::vector<std::string> work{"--model=lenet5", "--steps=20", "--verify=on"};
  const auto first = rankOnHost(0, "node1", work), second = rankOnHost(1, "node2", work);
  const Finished one = first->wait(), two = second->wait();
  ASSERT_EQ(one.code, 0) << one.err;
  ASSERT_EQ(two.code, 0) << two.err;
  const auto records = readResults(resultsPath());
  ASSERT_EQ(records.size(), 1U);
  const RunRecord& record = records[0];
  EXPECT_EQ(record.environment.host, "node1");
  EXPECT_TRUE(record.placement.replicas.at(1).ends_with(" on node2")) << record.placement.replicas[1];
  ASSERT_EQ(record.otherHosts.size(), 1U);
  const HostRecord& other = record.otherHosts[0];
  EXPECT_EQ(other.environment.host, "node2");
  EXPECT_EQ(other.replicas, 1);
  EXPECT_GT(other.peakMemoryBytes, 0);
  EXPECT_FALSE(other.telemetry.series.empty());
  EXPECT_NE(other.telemetry, record.telemetry);
  EXPECT_EQ(record.equality.value().reason, "");
  const auto report = runForked({"report", resultsPath()});
  EXPECT_NE(report.out.find("node1; node2"), std::string::npos) << report.out;
}

TEST(Ranks, WhatCannotCrossThemIsRefusedByName) {
  const std::pair<std::vector<std::string>, const char*> cases[] = {
      {{"--ranks=2", "--server-ranks=3"}, "so many ranks are not there"},
      {{"--ranks=0"}, "--ranks=0: must be "},
      {{"--ranks=2", "--timeout=0"}, "--timeout=0: "}};
  for (const auto& [options, text] : cases) {
    std::vector<std::string> given{"--model=trivial", "--steps=2", "--strategy=parameter_server"};
    given.insert(given.end(), options.begin(), options.end());
    const auto run = runForked(benchOf(given));
    EXPECT_EQ(run.code, 2) << join(options, " ");
    EXPECT_NE(run.err.find(text), std::string::npos) << run.err;
  }
}

/// The processes of the ranks of a bench, once there are so many.
std::vector<pid_t> ranksOf(const Tandem& bench, size_t count) {
  for (int turn = 0; turn < 3000 && !bench.ended(); ++turn) {
    std::ifstream file(concat("/proc/", bench.id(), "/task/", bench.id(), "/children"));
    std::vector<pid_t> found;
    for (pid_t process = 0; file >> process;) found.push_back(process);
    if (found.size() >= count) return found;
    usleep(10'000);
  }
  return {};
}

void awaitOutput(const Tandem& bench, const std::string& text) {
  for (int turn = 0; turn < 3000 && !bench.ended() && bench.outSoFar().find(text) == std::string::npos; ++turn) {
    usleep(10'000);
  }
}

TEST(Ranks, AKilledOneIsNamedAndTakesTheOthersAlong) {
  Tandem bench(benchOf({"--model=resnet20", "--classes=10", "--deterministic", "--steps=1000000", "--ranks=3"}));
  awaitOutput(bench, "[1/1]");
  const auto ranks = ranksOf(bench, 3);
  ASSERT_EQ(ranks.size(), 3U);
  sleep(2);  // they meet meanwhile
  kill(ranks[2], SIGKILL);
  const Nanos killed = now();
  const Finished end = bench.wait();
  EXPECT_LT(seconds(now() - killed), 10);  // two seconds and the ends of processes
  EXPECT_EQ(end.code, 6) << end.err;
  EXPECT_NE(end.err.find(": the run was killed by another program"), std::string::npos) << end.err;
  for (const pid_t rank : ranks) EXPECT_NE(kill(rank, 0), 0) << rank;
}

TEST(Ranks, AStoppedOneIsWaitedForNoLongerThanTheTimeout) {
  Tandem bench(
      benchOf({"--model=resnet20", "--classes=10", "--deterministic", "--steps=1000000", "--ranks=2", "--timeout=3"}));
  awaitOutput(bench, "[1/1]");
  const auto ranks = ranksOf(bench, 2);
  ASSERT_EQ(ranks.size(), 2U);
  sleep(2);
  kill(ranks[1], SIGSTOP);
  const Nanos stopped = now();
  const Finished end = bench.wait();
  EXPECT_LT(seconds(now() - stopped), 20);  // the timeout, two seconds and the ends of processes
  EXPECT_EQ(end.code, 6) << end.err;
  EXPECT_NE(end.err.find(concat("rank 1 (", hostName(), ", pid ", ranks[1], ") ")), std::string::npos) << end.err;
  EXPECT_NE(end.err.find("stopped by SIGSTOP or a debugger"), std::string::npos) << end.err;
  for (const pid_t rank : ranks) EXPECT_NE(kill(rank, 0), 0) << rank;
}

}  // namespace
}  // namespace tandem
