#include "report/analysis/figure_tables.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "base/error.h"
#include "base/text.h"
#include "measure/record_example.h"

namespace tandem {
namespace {

std::vector<ResultTable> tablesOfCsv(const std::string& text) {
  return tablesOf(dataPointsFrom(parseCsv(text, "given.csv"), "given.csv"), "given.csv");
}

const ResultTable& titled(const std::vector<ResultTable>& tables, const std::string& title) {
  const auto found = std::ranges::find(tables, title, &ResultTable::title);
  if (found == tables.end()) {
    std::vector<std::string> titles;
    for (const ResultTable& table : tables) titles.push_back(table.title);
    throw std::runtime_error(concat("no table '", title, "' but: ", join(titles, "; ")));
  }
  return *found;
}

std::vector<std::string> linesOf(const ResultTable& table) {
  std::vector<std::string> lines;
  for (const TableRow& row : table.rows) lines.push_back(join(row.cells, " "));
  return lines;
}

using Lines = std::vector<std::string>;

std::vector<RunRecord> sweep() {
  return {exampleRecord(1, "replicated", 100), exampleRecord(2, "replicated", 99),
          exampleRecord(1, "parameter_server", 100), exampleRecord(2, "parameter_server", 124)};
}

TEST(FigureTables, OfOwnRecordsAreTheTablesOfTheSheet) {
  const auto tables = tablesOf(dataPointsFrom(sweep()), "results");
  EXPECT_EQ(linesOf(titled(tables, "images/s by replicas")), (Lines{"replicated 160 320", "parameter_server 160 256"}));
  EXPECT_EQ(linesOf(titled(tables, "speed-up by replicas")),
            (Lines{"replicated 1.00x 2.00x", "parameter_server 1.00x 1.60x"}));
  EXPECT_EQ(linesOf(titled(tables, "efficiency against ideal (100%) by replicas")),
            (Lines{"replicated 100.00% 100.00%", "parameter_server 100.00% 80.00%"}));
  EXPECT_EQ(linesOf(titled(tables, "ratio of images/s, strategy replicated against parameter_server")),
            (Lines{"1 1.00x", "2 1.25x"}));
}

TEST(FigureTables, FailedRunsAreLeftOutAndCaveatsStandBesideTheirNumber) {
  auto records = sweep();
  records[1].warmup.steady = false;
  records[3] = failedRecord(2, ExitCode::numeric, "loss is NaN");
  records[3].config.exchange.strategy = "parameter_server";
  const auto tables = tablesOf(dataPointsFrom(records), "results");
  const ResultTable& rates = titled(tables, "images/s by replicas");
  EXPECT_EQ(linesOf(rates).front(), "replicated 160 320*");
  EXPECT_EQ(linesOf(rates)[1], "parameter_server 160 ");
  EXPECT_NE(std::ranges::find(rates.notes, "* replicated, 2: not steady"), rates.notes.end());
}

TEST(FigureTables, ACaveatOfSeveralFiguresStandsOnce) {
  auto records = sweep();
  records.push_back(records[1]);
  records[1].warmup.steady = records[4].warmup.steady = false;
  records[1].interference.reasons = {"other programs used its CPUs"};
  const auto tables = tablesOf(dataPointsFrom(records), "results");
  const ResultTable& rates = titled(tables, "images/s by replicas");
  EXPECT_NE(std::ranges::find(rates.notes, "* replicated, 2: not valid, not steady"), rates.notes.end())
      << join(rates.notes, "\n");
}

TEST(FigureTables, HowLongAndHowCloselyWasMeasuredIsNoFact) {
  auto records = sweep();
  records[0].config.measurement.steps = 40;
  records[1].config.measurement.warmup = "7";
  records[2].config.measurement.budget = 3;
  records.push_back(records[1]);
  records.back().config.measurement.profile = true;
  records.back().profile = Profile{};
  const auto tables = tablesOf(dataPointsFrom(records), "results");
  EXPECT_EQ(linesOf(titled(tables, "images/s by replicas")), (Lines{"replicated 160 320", "parameter_server 160 256"}));
  EXPECT_EQ(tables.size(), tablesOf(dataPointsFrom(sweep()), "results").size()) << "no ratio of other facts";
  EXPECT_EQ(dataPointsFrom(std::span(records).last(1)).rows.size(), 1u) << "a profile alone is shown";
}

TEST(FigureTables, RepeatedRunsAreTheirMedianAndSaySo) {
  std::vector<RunRecord> records{exampleRecord(1, "replicated", 100), exampleRecord(1, "replicated", 80),
                                 exampleRecord(1, "replicated", 10), exampleRecord(1, "replicated", 10)};
  records[3].interference.reasons = {"other programs used its CPUs"};
  const auto tables = tablesOf(dataPointsFrom(records), "results");
  EXPECT_EQ(linesOf(tables.front()), (Lines{"1 200"})) << "of the runs that count, as in the main table";
  ASSERT_EQ(tables.front().notes.size(), 1u);
  EXPECT_NE(tables.front().notes.front().find("median: 3 figures in 1 cells"), std::string::npos)
      << tables.front().notes.front();
}

TEST(FigureTables, OfAnyCsvFactsThatSayTheSameCountOnce) {
  const auto tables = tablesOfCsv(
      "machine,gpu,gpus,net,images_per_s\n"
      "dgx,P100,1,small,100\ngce,K80,1,small,20\ndgx,P100,2,small,190\ngce,K80,2,small,39\n"
      "dgx,P100,4,small,300\ngce,K80,4,small,75\n");
  EXPECT_EQ(linesOf(titled(tables, "images/s by gpus")), (Lines{"dgx 100 190 300", "gce 20 39 75"}))
      << "of two a median says nothing";
  EXPECT_EQ(linesOf(titled(tables, "ratio of images/s, machine dgx against gce")),
            (Lines{"1 5.00x", "2 4.87x", "4 4.00x", "median 4.87x"}));
  EXPECT_EQ(tables.size(), 5u);
}

TEST(FigureTables, RefuseWhatTheyCannotBeMadeOf) {
  const std::vector<std::pair<std::string, std::string>> cases{
      {"gpus,rate\n1,2\n", "images_per_s"},
      {"cards,images_per_s\n1,2\n", "replicas, devices or gpus"},
      {"gpus,images_per_s\n", "no figures"},
      {"gpus,images_per_s\n1,fast\n", "line 2: images_per_s is 'fast'"},
      {"gpus,images_per_s\n1,-3\n", "line 2: images_per_s is '-3'"},
      {"gpus,images_per_s\n1,nan\n", "line 2: images_per_s is 'nan'"},
      {"gpus,images_per_s\none,3\n", "gpus is 'one'"},
      {"gpus,images_per_s\n,3\n", "gpus is ''"},
  };
  for (const auto& [text, part] : cases) {
    try {
      tablesOfCsv(text);
      ADD_FAILURE() << text;
    } catch (const DataError& failure) {
      EXPECT_NE(std::string(failure.what()).find(part), std::string::npos) << failure.what();
    }
  }
}

TEST(FigureTables, QuotientsOfRepeatsHaveAnInterval) {
  std::vector<RunRecord> records;
  for (const double more : {0.0, 1.0, 2.0}) {
    records.push_back(exampleRecord(1, "replicated", 100 + more));
    records.push_back(exampleRecord(2, "replicated", 99 + more));
  }
  const auto tables = figureTablesOf(dataPointsFrom(records), "the runs").scaling;
  ASSERT_EQ(tables.size(), 3u);
  EXPECT_EQ(tables[0].rows[1].cells.back().find("+-"), std::string::npos) << "a rate has none";
  EXPECT_EQ(tables[1].rows[0].cells.back(), "1.00x");
  EXPECT_EQ(tables[1].rows[1].cells.back(), "2.00x +-2.6%");
  EXPECT_EQ(tables[2].rows[1].cells.back(), "100.00% +-2.6%");
}

}  // namespace
}  // namespace tandem
