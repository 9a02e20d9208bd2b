#pragma once

// What is asked of runs of several ranks, in the quick tests of few of them and in the long ones of all.

#include "bench_of_ranks.h"

namespace tandem {

/// A bench of these ranks, each with one and with two replicas, is one table of `points` rows.
inline void expectOneTable(const std::string& ranks, size_t points) {
  const auto run =
      runTandem(benchOf({"--model=trivial", "--classes=10", "--steps=5", "--ranks=" + ranks, "--replicas=1,2"}));
  EXPECT_EQ(run.code, 0) << run.err;
  const auto records = readResults(resultsPath());
  ASSERT_EQ(records.size(), points);
  for (const RunRecord& record : records) {
    const auto replicas = static_cast<size_t>(record.config.placement.ranks * record.config.placement.replicas);
    EXPECT_EQ(record.outcome.kind, OutcomeKind::ok) << record.outcome.reason;
    EXPECT_EQ(record.globalBatch, 4 * static_cast<int64_t>(replicas));
    EXPECT_EQ(record.steps.size(), 5 * replicas);
    EXPECT_EQ(record.placement.replicas.size(), replicas);
    EXPECT_EQ(record.losses.size(), 6U);
    EXPECT_EQ(record.steps.back().replica, static_cast<int>(replicas) - 1);
  }
  EXPECT_NE(run.out.find("ranks  replicas"), std::string::npos) << run.out;
}

/// Two numbers have one sum, so two ranks of one replica have the bits of two replicas of one rank.
inline void expectTheSameBitsInOneProcessAndInTwo(const std::string& model) {
  const std::vector<std::string> work{"--model=" + model, "--classes=10", "--steps=3", "--deterministic"};
  auto together = work, apart = work;
  together.insert(together.end(), {"--ranks=1", "--replicas=2"});
  apart.insert(apart.end(), {"--ranks=2", "--replicas=1"});
  const auto one = measured(together), two = measured(apart);
  ASSERT_EQ(one.size(), 1U);
  ASSERT_EQ(two.size(), 1U);
  EXPECT_NE(fingerprintOf(one[0]), "");
  EXPECT_EQ(fingerprintOf(one[0]), fingerprintOf(two[0])) << model;
  EXPECT_EQ(one[0].losses, two[0].losses) << model;
}

/// Two ranks of two replicas with these options, which make so many points, end well. A run whose ranks end with
/// different weights fails.
inline void expectEqualWeights(std::vector<std::string> way, size_t points) {
  way.insert(way.end(), {"--model=lenet5", "--steps=3", "--ranks=2", "--replicas=2"});
  EXPECT_EQ(measured(way).size(), points) << way.front();
}

}  // namespace tandem
