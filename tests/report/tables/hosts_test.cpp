// Runs on several hosts, in the tables that tell of hosts.
#include <gtest/gtest.h>

#include <algorithm>

#include "base/text.h"
#include "measure/record_example.h"
#include "report/tables/tables.h"

namespace tandem {
namespace {

Telemetry telemetryOf(double use) {
  return {.at = {Nanos(0), std::chrono::seconds(1)},
          .series = {{"cpu 0", "use", "%", {use, use}}},
          .phases = {{"training", Nanos(0)}},
          .cpu = Nanos(1)};
}

RunRecord onTwoHosts() {
  RunRecord record = exampleRecord(2, "replicated", 100);
  record.environment.host = "node1", record.environment.cores = 4, record.environment.load1 = 0.5;
  record.telemetry = telemetryOf(90);
  HostRecord& other = record.otherHosts.emplace_back();
  other.environment = record.environment;
  other.environment.host = "node2", other.environment.cores = 8, other.environment.load1 = 2;
  other.telemetry = telemetryOf(40);
  return record;
}

std::string cellOf(const ResultTable& table, const std::string& fact) {
  const auto row = std::ranges::find_if(table.rows, [&](const TableRow& each) { return each.cells[0] == fact; });
  return row == table.rows.end() ? "no row" : row->cells.at(1);
}

TEST(Hosts, OfARunAreOneEnvironment) {
  const std::vector<RunRecord> records{onTwoHosts()};
  const ResultTable table = environmentTable(ReportRuns(records));
  ASSERT_EQ(table.columns.size(), 2U);
  EXPECT_EQ(cellOf(table, "host"), "node1; node2");
  EXPECT_EQ(cellOf(table, "cores"), "4; 8");
  EXPECT_EQ(cellOf(table, "load before"), "0.50 to 2.00");
  const std::vector<EnvironmentFact> first = factsOf(records[0].environment);
  EXPECT_EQ(cellOf(table, "libraries"), std::ranges::find(first, "libraries", &EnvironmentFact::name)->value)
      << "in which they do not differ";
}

TEST(Hosts, HaveATableOfTelemetryEach) {
  const std::vector<RunRecord> records{onTwoHosts()};
  const auto tables = telemetryTables(ReportRuns(records));
  ASSERT_EQ(tables.size(), 2U);
  EXPECT_TRUE(tables[0].title.ends_with(", host node1")) << tables[0].title;
  EXPECT_TRUE(tables[1].title.ends_with(", host node2")) << tables[1].title;
  EXPECT_EQ(tables[0].rows.at(0).cells.at(2), "90.0");
  EXPECT_EQ(tables[1].rows.at(0).cells.at(2), "40.0");
}

}  // namespace
}  // namespace tandem
