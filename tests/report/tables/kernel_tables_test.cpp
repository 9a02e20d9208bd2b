#include <gtest/gtest.h>

#include "base/text.h"
#include "measure/record_example.h"
#include "report/tables/tables.h"

namespace tandem {
namespace {

/// 4 steps of 10 ms on each of two devices, of which the second is idle for longer.
DeviceProfile example() {
  GpuTimeline steps{.device = 0, .steps = 4, .wall = millis(40), .busy = millis(39.6)};
  steps.kernels = {
      {"conv", {"conv backward", "conv forward"}, 8, millis(20), millis(16), 3.2e12, 8e9},
      {"copy from host to device", {}, 4, millis(2), millis(2), 0, 40e6},
      {"update", {}, 2, millis(1), Nanos{}, 0, 0},
  };
  steps.operations = {{"conv forward", {"conv forward"}, 8, millis(16), millis(16), 3.2e12, 8e9},
                      {"", {}, 6, millis(7), millis(2), 0, 40e6}};
  steps.gaps = {{"conv", "update", 8, millis(0.4), millis(0.1)}};
  GpuTimeline other = steps;
  other.device = 3, other.busy = millis(30);
  return {.flopsPeak = 1e15, .bytesPeak = 2e12, .devices = {steps, other}};
}

std::string cellsOf(const ResultTable& table, size_t row) { return join(table.rows.at(row).cells, "; "); }

TEST(KernelTables, showWorkRatesAndSharesOfThePeaks) {
  const auto tables = kernelTables(example(), "row 1");
  ASSERT_EQ(tables.size(), 3U);
  EXPECT_EQ(tables[0].title, "Kernels of a step: row 1");
  EXPECT_EQ(
      cellsOf(tables[0], 0),
      "conv; conv backward, conv forward; 2.0; 5.000; 50.0 %; 800.000; 2000.000; 200000.0 (20.0 %); 500.0 (25.0 %)");
  EXPECT_EQ(cellsOf(tables[0], 1), "copy from host to device; ; 1.0; 0.500; 5.0 %; ; 10.000; ; 20.0 (1.0 %)");
  EXPECT_EQ(cellsOf(tables[0], 2), "update; ; 0.5; 0.250; 2.5 %; ; ; ; ") << "what is not known is empty, not 0";
  EXPECT_EQ(cellsOf(tables[1], 0),
            "conv forward; 2.0; 4.000; 40.0 %; 800.000; 2000.000; 200000.0 (20.0 %); 500.0 (25.0 %)");
  EXPECT_EQ(tables[1].rows[1].cells.front(), "none of the plan, or not known");
  for (const ResultTable& table : tables) {
    for (const TableRow& row : table.rows) EXPECT_EQ(row.cells.size(), table.columns.size()) << table.title;
  }
}

TEST(KernelTables, showGapsAndTheIdleShareOfEachDevice) {
  const auto tables = kernelTables(example(), "row 1");
  EXPECT_EQ(cellsOf(tables[2], 0), "conv; update; 2.0; 100.0; 100.0; 1.00 %");
  const std::string notes = join(tables[0].notes, "\n");
  EXPECT_NE(notes.find("cuda:0: 4 steps of 10.000 ms, idle 1.00 %\n"), std::string::npos) << notes;
  EXPECT_NE(notes.find("cuda:3: 4 steps of 10.000 ms, idle 25.00 %\n"), std::string::npos) << notes;
  EXPECT_NE(notes.find("1000000 GFLOP/s, 2000 GB/s"), std::string::npos) << notes;
  EXPECT_EQ(notes.find("lost"), std::string::npos) << notes;
  DeviceProfile busy = example();
  busy.devices.front().gaps.clear(), busy.lost = 7;
  EXPECT_EQ(kernelTables(busy, "")[2].notes.size(), 1U);
  EXPECT_EQ(kernelTables(busy, "")[0].notes.back(), "7 activities of the devices were lost");
}

TEST(KernelTables, withoutPeaksShowRatesAlone) {
  DeviceProfile profile = example();
  profile.flopsPeak = profile.bytesPeak = 0;
  const auto tables = kernelTables(profile, "");
  EXPECT_EQ(tables[0].rows[0].cells[7], "200000.0");
  EXPECT_EQ(tables[0].columns[7].heading, "GFLOP/s");
}

TEST(KernelTables, ofManyKernelsTheLastRowIsTheRest) {
  DeviceProfile profile = example();
  auto& kernels = profile.devices.front().kernels;
  kernels.clear();
  for (int i = 0; i < 50; ++i) kernels.push_back({concat(std::string(100, 'k'), i), {}, 4, millis(0.4), Nanos{}, 0, 0});
  const ResultTable table = kernelTables(profile, "").front();
  ASSERT_EQ(table.rows.size(), 30U);
  EXPECT_EQ(table.rows.front().cells.front(), concat(std::string(77, 'k'), "..."));
  EXPECT_EQ(cellsOf(table, 29), "21 others; ; 21.0; 2.100; 21.0 %; ; ; ; ");
}

TEST(KernelTables, standBesideTheStepTakenApart) {
  RunRecord record = exampleRecord(2, "replicated", 50);
  Profile& profile = record.profile.emplace();
  profile.replicas.resize(2);
  profile.device = example();
  const size_t without = 2;
  EXPECT_EQ(profileTables(ReportRuns({&record, 1})).size(), without + 3);
  profile.device = DeviceProfile{.missing = "libcupti is gone"};
  const auto tables = profileTables(ReportRuns({&record, 1}));
  EXPECT_EQ(tables.size(), without);
  EXPECT_NE(join(tables.front().notes, "\n").find("what the GPUs did is not known: libcupti is gone"),
            std::string::npos);
}

/// 4 steps of two replicas, 10 ms each.
RunRecord withCalls() {
  RunRecord record = exampleRecord(2, "replicated", 50);
  record.flopsPeak = 2e12, record.bytesPeak = 2e11;
  Profile& profile = record.profile.emplace();
  profile.replicas.resize(2);
  profile.host = HostTimeline{.steps = 8, .wall = millis(80), .calls = {}};
  profile.host->calls = {{"conv1 forward", {"conv forward"}, 8, millis(16), millis(16), 8e9, 8e8},
                         {"bn1 forward", {"batch_norm forward"}, 8, millis(4), millis(4), 0, 8e8},
                         {"conv2 forward", {"conv forward"}, 8, millis(24), millis(24), 1.6e10, 8e8}};
  return record;
}

TEST(CallTables, showTheLongestCallsAndTheKindsOfOperation) {
  const auto tables = callTables(withCalls(), "row 1");
  ASSERT_EQ(tables.size(), 2U);
  EXPECT_EQ(tables[0].title, "Longest calls of a step: row 1");
  EXPECT_EQ(cellsOf(tables[0], 0),
            "conv2 forward; conv forward; 1.0; 3.000; 30.0 %; 2.000; 100.000; 666.7 (66.7 %); 33.3 (33.3 %)");
  EXPECT_EQ(cellsOf(tables[0], 1),
            "conv1 forward; conv forward; 1.0; 2.000; 20.0 %; 1.000; 100.000; 500.0 (50.0 %); 50.0 (50.0 %)");
  EXPECT_EQ(cellsOf(tables[0], 2), "bn1 forward; batch_norm forward; 1.0; 0.500; 5.0 %; ; 100.000; ; 200.0 (200.0 %)");
  EXPECT_EQ(cellsOf(tables[1], 0), "conv forward; 2.0; 5.000; 50.0 %; 3.000; 200.000; 600.0 (60.0 %); 40.0 (40.0 %)");
  EXPECT_EQ(cellsOf(tables[1], 1), "batch_norm forward; 1.0; 0.500; 5.0 %; ; 100.000; ; 200.0 (200.0 %)");
}

TEST(CallTables, ofManyCallsTheLastRowIsTheRest) {
  RunRecord record = withCalls();
  auto& calls = record.profile->host->calls;
  for (int i = 0; i < 20; ++i)
    calls.push_back({concat("fc", i, " forward"), {"linear forward"}, 8, millis(1), millis(1)});
  const auto tables = callTables(record, "");
  ASSERT_EQ(tables[0].rows.size(), 10U);
  EXPECT_EQ(tables[0].rows.back().cells.front(), "14 others");
  EXPECT_EQ(tables[0].rows.back().cells[3], "1.750");
  EXPECT_EQ(tables[1].rows[1].cells.front(), "linear forward") << "20 ms in 8 steps";
}

TEST(CallTables, standBesideTheStepTakenApart) {
  const RunRecord record = withCalls();
  const auto tables = profileTables(ReportRuns({&record, 1}));
  ASSERT_EQ(tables.size(), 4U);
  EXPECT_EQ(tables[2].title, "Longest calls of a step: row 1, replicas=2");
}

}  // namespace
}  // namespace tandem
