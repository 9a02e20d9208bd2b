#include <gtest/gtest.h>

#include <utility>

#include "base/text.h"
#include "measure/record_example.h"
#include "report/analysis/comparison.h"
#include "report/analysis/verdict.h"
#include "report/render/renderer.h"
#include "report/tables/tables.h"
#include "support/contains.h"

namespace tandem {
namespace {

/// Two replicas that run forward for `first` and `second` ms and exchange for 2 ms; the earlier one waits.
RunRecord profiled(double first, double second) {
  static int64_t made = 0;
  RunRecord record = exampleRecord(2, "replicated", 50);
  record.startup += Nanos(++made);  // no two runs start equally
  record.config.measurement.profile = true;
  record.placement.flopsPerImage = 24.3e9;
  Profile& profile = record.profile.emplace();
  profile.inputBytes = 1 << 20, profile.gradientBytes = 2 << 20;
  for (const double forward : {first, second}) {
    ReplicaProfile& replica = profile.replicas.emplace_back();
    for (int64_t step = 0; step < 30; ++step) {
      StepParts parts{.step = step};
      parts.forward = millis(forward), parts.idle = millis(std::max(first, second) - forward);
      parts.exchange = millis(2);
      parts.arrival = parts.forward;
      parts.wall = parts.forward + parts.idle + parts.exchange;
      replica.steps.push_back(parts);
    }
  }
  return record;
}

std::string textOf(std::span<const ResultTable> tables) {
  std::string text;
  for (const ResultTable& table : tables) {
    text += concat(table.title, '\n');
    for (const TableColumn& column : table.columns) text += concat(column.heading, ';');
    for (const TableRow& row : table.rows) text += concat('\n', join(row.cells, "; "));
    text += concat('\n', join(table.notes, "\n"), '\n');
  }
  return text;
}

TEST(ProfileTables, showPartsByReplicaAndNameTheStraggler) {
  const RunRecord throughput = exampleRecord(1, "replicated", 50);
  const std::string text = textOf(profileTables(ReportRuns(std::vector{throughput, profiled(8, 6)})));
  EXPECT_TRUE(contains(text, "row 2, replicas=2")) << text;
  EXPECT_TRUE(contains(text, "replica;step;forward;exchange;idle;\n"))
      << "parts that take no time are left out" << text;
  EXPECT_TRUE(contains(text, "\n0; 10.00; 8.00 (80.0 %); 2.00 (20.0 %); 0.00 (0.0 %)")) << text;
  EXPECT_TRUE(contains(text, "\n1; 10.00; 6.00 (60.0 %); 2.00 (20.0 %); 2.00 (20.0 %)")) << text;
  EXPECT_TRUE(contains(text, "the step of all replicas: forward 70.0 %, exchange 20.0 %, idle 10.0 %")) << text;
  EXPECT_TRUE(contains(text, "straggler: replica 0 comes last to the exchange in 100.0 % of 30 steps, 2.00 ms after"))
      << text;
  EXPECT_TRUE(contains(text, "input 1 MiB, gradients 2 MiB, received in the exchange 3 MiB")) << text;
  EXPECT_TRUE(contains(text, "\ncompute; 388800.000 MFLOP; 7.00; 55542.86 GFLOP/s; ; \n")) << text;
  EXPECT_FALSE(contains(text, "Arrivals")) << "of a record that has none";
}

TEST(ProfileTables, ofALaunchedStepSayThatTheHostSeesTheLaunchAlone) {
  RunRecord record = profiled(8, 6);
  for (ReplicaProfile& replica : record.profile->replicas) {
    for (StepParts& step : replica.steps) {
      step.launch = std::exchange(step.forward, Nanos{});
      step.arrival.reset();
    }
  }
  const std::string text = textOf(profileTables(ReportRuns({&record, 1})));
  EXPECT_TRUE(contains(text, "replica;step;graph launch;exchange;idle;\n")) << text;
  EXPECT_TRUE(contains(text, "the step runs as a CUDA graph")) << text;
  EXPECT_TRUE(contains(text, "\ninput; 1.049 MB; 0.00; ")) << text;
  for (const char* unknown : {"\ncompute;", "\ngradients received;", "straggler"}) {
    EXPECT_FALSE(contains(text, unknown)) << unknown << " of\n" << text;
  }
  EXPECT_FALSE(contains(textOf(profileTables(ReportRuns(std::vector{profiled(8, 6)}))), "CUDA graph"));
}

TEST(ProfileTables, workStandsBesideAReplicasShareOfThePeaks) {
  RunRecord record = profiled(8, 6);
  record.flopsPeak = 60e12, record.bytesPeak = 40e9;
  const std::string text = textOf(profileTables(ReportRuns({&record, 1})));
  EXPECT_TRUE(contains(text, "\ncompute; 388800.000 MFLOP; 7.00; 55542.86 GFLOP/s; 30000.00 GFLOP/s; 12.96")) << text;
  EXPECT_TRUE(contains(text, "\ninput; 1.049 MB; 0.00; ; 20.00 GB/s; 0.05")) << text;
  EXPECT_TRUE(contains(text, "\ngradients received; 3.146 MB; 2.00; 1.57 GB/s; 20.00 GB/s; 0.16")) << text;
}

TEST(ProfileTables, showWhenEachReplicaComesToEachExchange) {
  RunRecord record = profiled(8, 6);
  for (int64_t i = 0; i < 20; ++i) {
    const auto at = [&](double later) { return millis(static_cast<double>(i) + later); };
    record.profile->exchanges.push_back(
        {.bytes = 1024 * (i + 1), .apart = millis(i < 4 ? 0.01 : 0.5), .after = {at(0.5), at(0)}, .last = {27, 3}});
  }
  const std::string text = textOf(profileTables(ReportRuns({&record, 1})));
  EXPECT_TRUE(contains(text,
                       "exchange;bytes;replica 0;replica 1;apart;most often last;\n5; 5 KiB; 4.50; 4.00; 0.50; "
                       "replica 0, 90.0 % of 30 steps"))
      << text;
  EXPECT_TRUE(contains(text, "of 20 exchanges the 16 with the replicas furthest apart")) << text;
}

TEST(ProfileTables, sayWhatIsLeftOut) {
  RunRecord record = profiled(8, 8);
  record.profile->every = 4, record.profile->lostSteps = 3;
  const std::string text = textOf(profileTables(ReportRuns({&record, 1})));
  EXPECT_TRUE(contains(text, "one step in 4 is kept")) << text;
  EXPECT_TRUE(contains(text, "3 steps are left out")) << text;
  EXPECT_TRUE(contains(text, "no straggler: replica 0 comes last to the exchange in 100.0 % of 30 steps, 0.00 ms"))
      << text;
}

TEST(ProfileTables, areOfFinishedProfilesOnly) {
  RunRecord failed = profiled(8, 8);
  failed.outcome.kind = OutcomeKind::failed;
  EXPECT_TRUE(profileTables(ReportRuns(std::vector{failed, exampleRecord(1, "replicated", 50)})).empty());
}

TEST(ProfileTables, aComparisonOfProfilesNamesThePartThatGrew) {
  const Side a{"a", {profiled(8, 8)}}, b{"b", {profiled(8, 13)}};
  const auto tables = comparisonTables(a, b);
  ASSERT_EQ(tables.size(), 3U);
  const auto& rows = tables.back().rows;
  ASSERT_EQ(rows.size(), 2U);
  EXPECT_EQ(join(rows[0].cells, " "), "forward 1 8.00 13.00 5.00");
  EXPECT_EQ(join(rows[1].cells, " "), "idle 0 0.00 5.00 5.00");
  EXPECT_TRUE(contains(textOf(comparisonTables(a, {"c", {profiled(8, 8)}})), "none by 1 %"));
  EXPECT_EQ(comparisonTables(a, {"c", {exampleRecord(2, "replicated", 50)}}).size(), 2U) << "one is no profile";
}

TEST(ProfileTables, aComparisonPoolsTheRunsOfASide) {
  Side a{"a", {profiled(8, 8), profiled(8, 8), profiled(8, 8)}};
  Side b{"b", {profiled(8, 8), profiled(13, 8), profiled(13, 8)}};
  for (Side* side : {&a, &b}) {
    for (size_t i = 0; i < 3; ++i) side->runs[i].time += concat(i);
  }
  const auto tables = comparisonTables(a, b);
  const auto& rows = tables.back().rows;
  ASSERT_FALSE(rows.empty());
  EXPECT_EQ(join(rows[0].cells, " "), "forward 0 8.00 13.00 5.00");
}

TEST(ProfileTables, theRateOfAProfileIsMarkedEverywhere) {
  const RunRecord record = profiled(8, 8);
  EXPECT_EQ(briefCaveats(record), "profile");
  EXPECT_EQ(rateCaveats(record), "");
  const std::string table = textOf(std::vector{buildTable({&record, 1})});
  EXPECT_TRUE(contains(table, "throughput is measured without --profile")) << table;
  EXPECT_TRUE(contains(verdictText({&record, 1}), "(a profile, no measurement of throughput)"));
}

}  // namespace
}  // namespace tandem
