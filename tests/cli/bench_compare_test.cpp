#include "cli/bench_compare.h"

#include <gtest/gtest.h>

#include <set>

#include "measure/record_example.h"

namespace tandem {
namespace {

/// So many rounds of four runs, of which those in `disturbed` are not valid.
std::vector<RunRecord> rounds(size_t count, const std::set<size_t>& disturbed) {
  std::vector<RunRecord> records(4 * count, exampleRecord(1, "replicated", 100));
  for (const size_t run : disturbed) records.at(run).interference.reasons = {"other programs used 40 %"};
  return records;
}

TEST(LastingDisturbance, IsTwoRunsInEachOfThreeRoundsInARow) {
  EXPECT_EQ(lastingDisturbance(rounds(2, {0, 1, 4, 5})), "") << "two rounds";
  EXPECT_EQ(lastingDisturbance(rounds(3, {0, 1, 2, 3, 4, 5, 8})), "") << "only one run of the third";
  EXPECT_EQ(lastingDisturbance(rounds(4, {0, 1, 4, 5, 12, 13})), "") << "not in a row";
  EXPECT_EQ(lastingDisturbance(rounds(5, {8, 11, 12, 15, 18, 19})),
            "--compare: given up after 20 runs, which are stored: each of the last 3 rounds has two runs or more "
            "that are not valid: "
            "other programs used 40 %; end what disturbs them and compare again, or take them as they are by "
            "--allow-interference");
}

TEST(LastingDisturbance, ShortWindowsThatAreNotCheckedCountToo) {
  auto records = rounds(3, {});
  for (RunRecord& record : records) {
    record.window = std::chrono::milliseconds(320);
    for (StepSample& step : record.steps) step.wall /= 10, step.compute /= 10;
    record.interference.signs["cpu_pressure"] = 90;
  }
  EXPECT_NE(lastingDisturbance(records).find("were not checked, as their windows are under 1 s; raise --budget"),
            std::string::npos)
      << lastingDisturbance(records);
}

TEST(LastingDisturbance, IsAllowedIfAskedFor) {
  auto records = rounds(3, {0, 1, 4, 5, 8, 9});
  for (RunRecord& record : records) record.config.measurement.allowInterference = true;
  EXPECT_EQ(lastingDisturbance(records), "");
}

}  // namespace
}  // namespace tandem
