#include "report/tables/equality_table.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "measure/record_example.h"

namespace tandem {
namespace {

EqualityStamp stamp() {
  return {.steps = 2,
          .error = {1.06e-2, 2.3e-2, "conv1.weight"},
          .plain = {{"fp32", {1.1e-6, 2.2e-5, "fc.bias"}}},
          .seconds = 0.512};
}

std::string textOf(const RunRecord& record) { return equalText(std::vector{&record}); }
std::string noteOf(const RunRecord& record) { return equalNote(std::vector{&record}); }

RunRecord with(EqualityStamp stamp, int64_t replicas = 1) {
  RunRecord record = exampleRecord(replicas, "replicated", 100);
  record.equality = std::move(stamp);
  return record;
}

TEST(EqualText, IsTheErrorOfTheChangeAndWhetherBitsAreEqual) {
  EXPECT_EQ(textOf(with(stamp())), "1.1e-02");
  EqualityStamp same = stamp();
  same.bitEqual = true, same.differenceOfReplicas = 0;
  EXPECT_EQ(textOf(with(same, 2)), "bit-equal, 1.1e-02");
  EXPECT_EQ(noteOf(with(same, 2)), "equal: bit for bit the weights of one replica with the same kernels after 2 steps");
  EXPECT_EQ(noteOf(with(stamp())), "");
  EXPECT_EQ(textOf(exampleRecord(1, "replicated", 100)), "") << "a record from before, or --verify=off";
  EXPECT_EQ(noteOf(exampleRecord(1, "replicated", 100)), "");
}

TEST(EqualText, OfRepeatsIsTheLargestError) {
  EqualityStamp large = stamp(), same = stamp();
  large.error.whole = 0.5, same.bitEqual = true;
  const RunRecord a = with(stamp()), b = with(large), c = with({.reason = "none"}), d = with(same);
  EXPECT_EQ(equalText(std::vector{&a, &b, &c}), "5.0e-01");
  EXPECT_EQ(equalText(std::vector{&a, &d}), "1.1e-02") << "not all are";
  EXPECT_EQ(equalText(std::vector{&c, &d}), "bit-equal, 1.1e-02");
  EXPECT_EQ(equalNote(std::vector{&a, &d}), "");
  EXPECT_TRUE(equalNote(std::vector{&c, &d}).starts_with("equal: bit for bit")) << equalNote(std::vector{&c, &d});
}

// bench compares the first run of a point only.
TEST(EqualText, ARowHasTheStampOfAnyOfItsRuns) {
  RunRecord disturbed = with(stamp(), 2), first = with({.reason = "too long"}, 4);
  disturbed.equality->bitEqual = true;
  disturbed.interference.reasons = {"other programs used the run's CPUs for 50 %"};
  const ResultTable table = buildTable(std::vector{disturbed, exampleRecord(2, "replicated", 100), first});
  EXPECT_TRUE(std::ranges::count(table.rows[0].cells, "bit-equal, 1.1e-02"));
  EXPECT_EQ(std::ranges::count(table.notes,
                               "row 1: equal: bit for bit the weights of one replica with the same kernels "
                               "after 2 steps"),
            1);
  EXPECT_EQ(std::ranges::count(table.notes, "row 2: equal: not compared: too long"), 1);
}

TEST(EqualText, IsEmptyWithAReasonWhereStepsWereNotCompared) {
  const RunRecord record = with({.reason = "--forward-only trains nothing"});
  EXPECT_EQ(textOf(record), "");
  EXPECT_EQ(noteOf(record), "equal: not compared: --forward-only trains nothing");
  const ResultTable table = buildTable(std::vector{record});
  EXPECT_EQ(std::ranges::count(table.notes, "row 1: equal: not compared: --forward-only trains nothing"), 1);
}

TEST(EqualityTables, SetEachErrorBesidePlainAtens) {
  EqualityStamp half = stamp();
  half.plain.push_back({"bf16", {0.02, 0.1, "bn1.bias"}});
  half.differenceOfReplicas = 3e-9;
  const std::vector<RunRecord> records{with(stamp()), with({.reason = "none"}), with(half, 2)};
  const auto tables = equalityTables(ReportRuns(records));
  ASSERT_EQ(tables.size(), 1U);
  ASSERT_EQ(tables[0].rows.size(), 2U);
  using Cells = std::vector<std::string>;
  EXPECT_EQ(tables[0].rows[0].cells, (Cells{"1: replicas=1", "2", "1.1e-02", "2.3e-02 conv1.weight", "1.1e-06",
                                            "2.2e-05 fc.bias", "", "", "", "0.51"}));
  EXPECT_EQ(tables[0].rows[1].cells, (Cells{"2: replicas=2", "2", "1.1e-02", "2.3e-02 conv1.weight", "1.1e-06",
                                            "2.2e-05 fc.bias", "2.0e-02", "1.0e-01 bn1.bias", "3.0e-09", "0.51"}));
  EXPECT_TRUE(equalityTables(ReportRuns(std::span(records).subspan(1, 1))).empty());
}

}  // namespace
}  // namespace tandem
