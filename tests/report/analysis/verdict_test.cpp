#include "report/analysis/verdict.h"

#include <gtest/gtest.h>

#include "config/command_line.h"
#include "measure/record_example.h"

namespace tandem {
namespace {

std::string repeated(const RunRecord& record) { return "; repeat with: " + commandLine("bench", record.config); }

TEST(Verdict, NamesTheFastestByHowMuchAndTheCommand) {
  const std::vector<RunRecord> records{exampleRecord(1, "replicated", 100), exampleRecord(2, "parameter_server", 109),
                                       exampleRecord(2, "replicated", 99)};
  EXPECT_EQ(verdictText(records),
            "fastest: replicas=2 strategy=replicated, 320.00 images/s, 10.0 % ahead of replicas=2 "
            "strategy=parameter_server" +
                repeated(records[2]));
}

TEST(Verdict, OverlappingIntervalsAreNotDistinguishable) {
  const std::vector<RunRecord> records{exampleRecord(2, "parameter_server", 99.1), exampleRecord(2, "replicated", 99)};
  EXPECT_EQ(verdictText(records),
            "fastest: replicas=2 strategy=replicated, 320.00 images/s, not distinguishable from replicas=2 "
            "strategy=parameter_server: the 95 % intervals overlap" +
                repeated(records[1]));
}

TEST(Verdict, WithoutIntervalsItSaysSo) {
  std::vector<RunRecord> records{exampleRecord(1, "replicated", 100), shortened(exampleRecord(2, "replicated", 99), 3)};
  EXPECT_EQ(verdictText(records),
            "fastest: replicas=2, 320.00 images/s, 100.0 % ahead of replicas=1 (too few steps to tell this from "
            "noise)" +
                repeated(records[1]));
}

TEST(Verdict, WhatWasNotSteadyIsNoHeadline) {
  std::vector<RunRecord> records{exampleRecord(1, "replicated", 100), exampleRecord(2, "replicated", 99)};
  records[1].warmup.steady = false;
  EXPECT_TRUE(verdictText(records).starts_with("one point finished: replicas=1, "));
  EXPECT_NE(verdictText(records).find("; left out: 1 not steady (a larger --budget or --warmup helps); repeat with: "),
            std::string::npos)
      << verdictText(records);
  records[0].warmup.steady = false;
  EXPECT_TRUE(verdictText(records).starts_with("no point to judge: 0 failed, 0 skipped, 2 not steady ("));
}

TEST(Verdict, AShortcomingIsTheFirstThatHolds) {
  RunRecord record = exampleRecord(1, "replicated", 100);
  EXPECT_EQ(shortcoming(record), "");
  for (size_t i = record.steps.size() / 2; i < record.steps.size(); ++i)
    record.steps[i].wall = record.steps[i].wall / 2;
  EXPECT_EQ(shortcoming(record), "not steady");
  record.environment.variables["LD_PRELOAD"] = "other.so";
  EXPECT_EQ(shortcoming(record), "in doubt");
  record.interference.reasons = {"a stall"};
  EXPECT_EQ(shortcoming(record), "not valid");
  record.outcome.kind = OutcomeKind::failed;
  EXPECT_EQ(shortcoming(record), "failed");
}

TEST(Verdict, PointsWithTheSameOptionsAreToldApartByTheirRow) {
  const std::vector<RunRecord> records{exampleRecord(1, "replicated", 110), exampleRecord(1, "replicated", 100)};
  EXPECT_NE(verdictText(records).find("10.0 % ahead of row 1;"), std::string::npos);
}

TEST(Verdict, OnePointIsJustThatPoint) {
  const std::vector<RunRecord> records{exampleRecord(1, "replicated", 100),
                                       failedRecord(2, ExitCode::numeric, "loss is NaN")};
  EXPECT_EQ(verdictText(records), "one point finished: replicas=1, 160.00 images/s" + repeated(records[0]));
}

TEST(Verdict, NoneFinished) {
  std::vector<RunRecord> records(3, failedRecord(2, ExitCode::numeric, "loss is NaN"));
  records[0].outcome.kind = OutcomeKind::skipped;
  EXPECT_EQ(verdictText(records), "no point to judge: 2 failed, 1 skipped");
  EXPECT_EQ(verdictText({}), "no point to judge: 0 failed, 0 skipped");
}

TEST(Verdict, ADisturbedPointIsNeverTheFastest) {
  std::vector<RunRecord> records{exampleRecord(1, "replicated", 100), exampleRecord(2, "replicated", 100)};
  records[1].interference.reasons = {"other programs used the run's CPUs for 40 %"};
  EXPECT_EQ(verdictText(records),
            "one point finished: replicas=1, 160.00 images/s; left out: 1 not valid" + repeated(records[0]));
  records[0].interference.reasons = {"the process was stopped for 2 s"};
  EXPECT_EQ(verdictText(records), "no point to judge: 0 failed, 0 skipped, 2 not valid");
}

}  // namespace
}  // namespace tandem
