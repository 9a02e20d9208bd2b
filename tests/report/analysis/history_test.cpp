#include <gtest/gtest.h>

#include "base/text.h"
#include "measure/record_example.h"
#include "report/analysis/comparison.h"
#include "support/contains.h"

namespace tandem {
namespace {

RunRecord at(int hour, double stepMs, const std::string& commit) {
  RunRecord record = exampleRecord(1, "replicated", stepMs);
  record.time = concat("2026-01-02T", hour < 10 ? "0" : "", hour, ":00:00Z");
  record.environment.commit = commit;
  return record;
}

std::string textOf(const ResultTable& table) {
  std::string text;
  for (const TableRow& row : table.rows) text += join(row.cells, " ") + row.failure + "\n";
  return text + join(table.notes, "\n");
}

std::string lastResult(const std::vector<RunRecord>& records) {
  const auto tables = historyTables(records);
  EXPECT_EQ(tables.size(), 1u);
  return tables.front().rows.back().cells.back();
}

TEST(History, RunsOfAConfigurationStandInTheOrderOfTime) {
  const auto tables = historyTables(std::vector{at(9, 99, "b"), at(8, 100, "a"), at(10, 98, "c")});
  ASSERT_EQ(tables.size(), 1u);
  EXPECT_TRUE(contains(tables[0].title, "resnet50, replicas=1, on box")) << tables[0].title;
  ASSERT_EQ(tables[0].rows.size(), 3u);
  EXPECT_EQ(tables[0].rows[0].cells[1], "a");
  EXPECT_EQ(tables[0].rows[2].cells[1], "c");
  EXPECT_EQ(tables[0].rows[1].cells[5], "+1.0");
  EXPECT_EQ(tables[0].rows[0].cells[5], "") << "nothing is before the first";
}

TEST(History, OtherConfigurationsAndMachinesAreTablesOfTheirOwn) {
  RunRecord elsewhere = at(9, 100, "a"), larger = at(9, 100, "a"), later = at(9, 100, "b");
  elsewhere.environment.host = "other";
  larger.config.step.batch = 64;
  later.environment.libraries["oneDNN"] = "4";
  EXPECT_EQ(historyTables(std::vector{at(8, 100, "a"), elsewhere, larger, later}).size(), 3u);
}

/// Four runs of an earlier build, which differ by about 1 %.
std::vector<RunRecord> earlier() { return {at(1, 99, "0"), at(2, 100, "0"), at(3, 101, "0"), at(4, 100, "0")}; }

std::string lastResultAfterEarlier(std::vector<RunRecord> later) {
  auto records = earlier();
  std::ranges::move(later, std::back_inserter(records));
  return lastResult(records);
}

TEST(History, ARegressionIsWhatIsSlowerSurely) {
  EXPECT_TRUE(contains(lastResultAfterEarlier({at(8, 99, "a"), at(9, 110, "b")}),
                       "regression: than the run before slower by 10.0 %"));
  EXPECT_EQ(lastResultAfterEarlier({at(8, 100, "a"), at(9, 101, "b")}), "ok");
  EXPECT_EQ(lastResultAfterEarlier({at(8, 110, "a"), at(9, 99, "b")}), "ok");
}

TEST(History, WithoutRepeatsNothingIsJudged) {
  const auto tables = historyTables(std::vector{at(8, 100, "a"), at(9, 150, "b")});
  EXPECT_EQ(tables[0].rows.back().cells.back(), "");
  EXPECT_TRUE(contains(textOf(tables[0]), "nothing is judged: too few runs of one build")) << textOf(tables[0]);
}

TEST(History, ADeclineInSmallStepsIsSeenAgainstTheBest) {
  std::vector<RunRecord> later;
  for (int i = 0; i < 10; ++i) later.push_back(at(8 + i, 99 + 1.2 * i, concat("c", i)));
  const std::string result = lastResultAfterEarlier(later);
  EXPECT_TRUE(contains(result, "than the best slower by ")) << result;
  EXPECT_FALSE(contains(result, "than the run before")) << result;
}

TEST(History, WhatRunsOfOneBuildDifferByIsNoRegression) {
  std::vector<RunRecord> records{at(1, 100, "a"), at(2, 106, "a"), at(3, 97, "a"), at(4, 103, "a")};
  const auto tables = historyTables(records);
  EXPECT_FALSE(contains(textOf(tables[0]), "regression")) << textOf(tables[0]);
  EXPECT_FALSE(contains(textOf(tables[0]), "too few runs of one build"));
  records.push_back(at(5, 160, "b"));
  EXPECT_TRUE(contains(lastResult(records), "regression"));
}

TEST(History, DoubtfulRunsAreShownAndNotJudged) {
  RunRecord disturbed = at(9, 150, "a"), unsteady = at(10, 150, "a"), failed = at(11, 150, "a");
  disturbed.interference.reasons = {"stall"};
  unsteady.warmup.steady = false;
  failed.outcome = {OutcomeKind::failed, ExitCode::numeric, "loss is NaN"};
  const auto tables = historyTables(std::vector{at(8, 100, "a"), disturbed, unsteady, failed, at(12, 100, "b")});
  ASSERT_EQ(tables[0].rows.size(), 5u);
  EXPECT_EQ(tables[0].rows[1].cells.back(), "not valid, not judged");
  EXPECT_EQ(tables[0].rows[2].cells.back(), "not steady, not judged");
  EXPECT_TRUE(contains(tables[0].rows[3].failure, "loss is NaN"));
  EXPECT_EQ(tables[0].rows[4].cells[5], "+0.0") << "the run before is the last that is judged";
}

}  // namespace
}  // namespace tandem
