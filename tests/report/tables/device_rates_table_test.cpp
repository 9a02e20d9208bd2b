#include <gtest/gtest.h>

#include <algorithm>

#include "base/text.h"
#include "measure/record_example.h"
#include "report/tables/tables.h"

namespace tandem {
namespace {

RunRecord on(const std::string& device, double stepMs, int64_t replicas = 1) {
  RunRecord record = exampleRecord(replicas, "replicated", stepMs);
  record.config.placement.devices = device;
  return record;
}

std::vector<std::string> rowsOf(const ResultTable& table) {
  std::vector<std::string> rows;
  for (const TableRow& row : table.rows) rows.push_back(join(row.cells, " | "));
  return rows;
}

TEST(DeviceRates, AreInPercentOfTheFirstDevice) {
  const std::vector<RunRecord> records{on("cuda:0", 100), on("cuda:1", 125), on("cuda:0+1", 100, 2), on("cuda:2", 80)};
  const auto tables = deviceRateTables(ReportRuns(records));
  ASSERT_EQ(tables.size(), 1U);
  EXPECT_EQ(rowsOf(tables[0]), (std::vector<std::string>{"cuda:0 | 160.00 | 100.00 | 1", "cuda:1 | 128.00 | 80.00 | 1",
                                                         "cuda:2 | 200.00 | 125.00 | 1"}));
}

TEST(DeviceRates, ARepeatedDeviceHasItsMedian) {
  const std::vector<RunRecord> records{on("cpu:0", 100), on("cpu:1", 200), on("cpu:0", 50), on("cpu:0", 80)};
  EXPECT_EQ(rowsOf(deviceRateTables(ReportRuns(records)).at(0)),
            (std::vector<std::string>{"cpu:0 | 200.00 | 100.00 | 3", "cpu:1 | 80.00 | 40.00 | 1"}));
}

TEST(DeviceRates, OtherWorkHasATableOfItsOwnAndOneDeviceNone) {
  std::vector<RunRecord> records{on("cpu:0", 100), on("cpu:1", 100), on("cpu:0", 100), on("cpu:1", 100)};
  for (size_t i = 2; i < 4; ++i) records[i].config.numerics.precision = "bf16";
  EXPECT_EQ(deviceRateTables(ReportRuns(records)).size(), 2U);
  const std::vector<RunRecord> alone{on("cpu:0", 100), on("cpu:0", 100)};
  EXPECT_TRUE(deviceRateTables(ReportRuns(alone)).empty());
  records[1].interference.reasons = {"stolen"};
  records[3].interference.reasons = {"stolen"};
  EXPECT_TRUE(deviceRateTables(ReportRuns(records)).empty()) << "a disturbed run counts for no device";
}

TEST(ResultTable, SaysWhatLiesBetweenTheDevicesWhereItDiffers) {
  std::vector<RunRecord> records{on("cuda:0+1", 100, 2), on("cuda:0+5", 100, 2)};
  records[0].placement.link = "PIX", records[1].placement.link = "PIX";
  const auto hasLink = [](const ResultTable& table) {
    return std::ranges::any_of(table.columns, [](const TableColumn& column) { return column.heading == "link"; });
  };
  EXPECT_FALSE(hasLink(buildTable(records)));
  records[1].placement.link = "PHB";
  const ResultTable table = buildTable(records);
  ASSERT_TRUE(hasLink(table));
  EXPECT_NE(std::ranges::find(table.rows[1].cells, "PHB"), table.rows[1].cells.end());
}

}  // namespace
}  // namespace tandem
