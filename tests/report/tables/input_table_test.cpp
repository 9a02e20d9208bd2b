#include <gtest/gtest.h>

#include <algorithm>

#include "measure/record_example.h"
#include "report/tables/tables.h"

namespace tandem {
namespace {

/// A run that waits for a tenth of each step, on a data set of 32,000 images.
RunRecord withData() {
  RunRecord record = exampleRecord(2, "replicated", 99);
  record.config.input.data = "/data/photos";
  record.placement.data = "image folder", record.placement.dataImages = 32000;
  record.placement.augment = record.config.input.augment;
  return record;
}

RunRecord withoutWait(RunRecord record) {
  for (StepSample& step : record.steps) step.input = Nanos(0);
  return record;
}

TEST(InputTable, SaysWhatWaitingCosts) {
  EXPECT_EQ(
      inputLines(withData()),
      (std::vector<std::string>{
          "input: waiting for batches takes 10.0 % of a step, which costs 35.56 images/s; what is made beside the "
          "steps takes more from the same cores; 'tandem data size /data/photos --model=resnet50' shows what would "
          "help"}));
}

TEST(InputTable, SaysThatInputDoesNotLimit) {
  RunRecord record = withoutWait(withData());
  EXPECT_EQ(
      inputLines(record).front(),
      "input: waiting for batches takes 0.0 % of a step, so it does not limit training; what is made beside the steps "
      "takes more from the same cores; 'tandem data size /data/photos --model=resnet50' says what that is");
  record.config.placement.devices = "cuda:0+1";
  EXPECT_EQ(inputLines(record).front(),
            "input: waiting for batches takes 0.0 % of a step, so it does not limit training");
}

/// There the host waits while the GPU computes what it was given before.
TEST(InputTable, OfGpusTheCostOfWaitingIsNotKnown) {
  RunRecord record = withData();
  record.config.placement.devices = "cuda:0+1";
  EXPECT_EQ(inputLines(record).front(),
            "input: waiting for batches takes 10.0 % of a step of the host's thread; 'tandem data size /data/photos "
            "--model=resnet50' shows what would help");
}

TEST(InputTable, IsOfRealDataAlone) {
  RunRecord record = withData();
  const std::vector<RunRecord> runs{record, exampleRecord(1, "replicated", 100)};
  const auto tables = inputTables(ReportRuns(runs));
  ASSERT_EQ(tables.size(), 1U);
  ASSERT_EQ(tables.front().rows.size(), 1U);
  const auto& cells = tables.front().rows.front().cells;
  EXPECT_EQ((std::vector<std::string>{cells.begin() + 1, cells.end()}),
            (std::vector<std::string>{"10.0", "320.00", "355.56", "100.0", ""}));
  EXPECT_TRUE(inputLines(runs[1]).empty());
  record.config.step.loaderOnly = true;
  EXPECT_TRUE(inputLines(record).empty());
  EXPECT_TRUE(inputTables(ReportRuns(std::span(&record, 1))).empty());
}

TEST(InputTable, RunsHaveAColumnOfEpochsWhereDataAreReal) {
  const auto hasEpochs = [](const RunRecord& record) {
    const ResultTable table = buildTable(std::span(&record, 1));
    EXPECT_EQ(table.rows.front().cells.size(), table.columns.size());
    return std::ranges::any_of(table.columns, [](const auto& column) { return headingOf(column) == "epoch (s)"; });
  };
  EXPECT_TRUE(hasEpochs(withData()));
  EXPECT_FALSE(hasEpochs(exampleRecord(1, "replicated", 100)));
}

}  // namespace
}  // namespace tandem
