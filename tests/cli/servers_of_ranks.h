#pragma once

// Runs with parameter servers of several processes, in the quick tests with few of the options that the long ones have.

#include "bench_of_ranks.h"

namespace tandem {

/// Runs of two ranks, with each of these --server-ranks and each of these --servers beside them, train the bits of two
/// replicas of one process. Two numbers have one sum.
inline void expectTheBitsOfOneProcess(const std::string& serverRanks, const std::string& servers) {
  const std::vector<std::string> work{"--strategy=parameter_server", "--steps=3", "--deterministic"};
  auto together = work, apart = work, served = work;
  together.insert(together.end(), {"--replicas=2", "--verify=off"});
  apart.insert(apart.end(), {"--ranks=2", "--replicas=1", "--verify=on", "--server-ranks=" + serverRanks});
  served.insert(served.end(), {"--ranks=2", "--replicas=1", "--verify=on", "--servers=" + servers});
  const auto one = measured(together);
  auto others = measured(apart);
  EXPECT_GE(others.size(), 1U);
  const auto more = measured(served);
  EXPECT_GE(more.size(), 1U);
  others.insert(others.end(), more.begin(), more.end());
  ASSERT_EQ(one.size(), 1U);
  EXPECT_NE(fingerprintOf(one[0]), "");
  for (const RunRecord& record : others) {
    EXPECT_EQ(fingerprintOf(record), fingerprintOf(one[0]));
    EXPECT_EQ(record.losses, one[0].losses);
    EXPECT_EQ(record.equality.value().reason, "");
    EXPECT_LT(record.equality->error.whole, 4 * record.equality->plain.front().error.whole);
    EXPECT_GT(record.traffic.bytesBetweenRanks, 0);
    EXPECT_FALSE(record.staleness);
  }
  EXPECT_EQ(one[0].traffic.bytesBetweenRanks, 0);
}

/// Profiles of two ranks with servers beside them, one of each combination of these options.
inline void expectReplicasOfRanksAlone(const std::vector<std::string>& options, size_t points) {
  std::vector<std::string> more{"--strategy=parameter_server", "--steps=4", "--ranks=2", "--profile"};
  more.insert(more.end(), options.begin(), options.end());
  const auto run = runTandem(benchOf(more));
  EXPECT_EQ(run.code, 0) << run.err;
  EXPECT_NE(run.out.find("gradients were those of weights that lacked "), std::string::npos) << run.out;
  const auto records = readResults(resultsPath());
  ASSERT_EQ(records.size(), points);
  for (const RunRecord& record : records) {
    EXPECT_EQ(record.outcome.kind, OutcomeKind::ok) << record.outcome.reason;
    EXPECT_EQ(record.globalBatch, 8);
    EXPECT_EQ(record.placement.replicas.size(), 2U);
    EXPECT_EQ(record.steps.size(), 8U);
    EXPECT_EQ(record.losses.size(), 5U);
    ASSERT_TRUE(record.profile);
    EXPECT_EQ(record.profile->replicas.size(), 2U);
    EXPECT_GT(record.traffic.bytesBetweenRanks, 0);
  }
}

}  // namespace tandem
