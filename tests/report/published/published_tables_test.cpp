#include "report/published/published_tables.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <fstream>
#include <map>
#include <sstream>
#include <utility>

#include "base/text.h"
#include "measure/record_example.h"
#include "report/analysis/csv_table.h"
#include "report/published/published.h"
#include "support/tests_folder.h"

namespace tandem {
namespace {

/// A cell by its table, row and column.
using Cells = std::map<std::vector<std::string>, std::string>;

/// Cells as the documents print them (tests/report/seeds, transcribed from their texts); some stand in two documents.
std::vector<Cells::value_type> printedCells() {
  std::vector<Cells::value_type> cells;
  for (const std::string name : {"sheet", "experiments", "tensorpack"}) {
    std::ifstream file(testsFolder() + "/report/seeds/" + name + ".csv");
    std::stringstream text;
    text << file.rdbuf();
    for (const auto& row : parseCsv(text.str(), name).rows) {
      cells.push_back({{row.fields[0], row.fields[1], row.fields[2]}, row.fields[3]});
    }
  }
  return cells;
}

void addCells(Cells& cells, const std::string& name, const ResultTable& table) {
  for (const TableRow& row : table.rows) {
    const std::string label = join(std::span(row.cells).first(table.labels), " ");
    for (size_t i = table.labels; i < row.cells.size(); ++i) {
      cells[{name, label.substr(0, label.find_last_not_of(' ') + 1), table.columns[i].heading}] = row.cells[i];
    }
  }
  constexpr std::string_view overall = "median of all cells: ";
  for (const std::string& note : table.notes) {
    if (note.starts_with(overall)) cells[{name, "all", "median"}] = note.substr(overall.size());
  }
}

Cells computedCells(const DataPointsOf& dataPointsOf) {
  Cells cells;
  const auto tables = recomputedPublishedTables(dataPointsOf);
  for (size_t i = 0; i < publishedTables().size(); ++i) addCells(cells, publishedTables()[i].name, tables[i]);
  return cells;
}

/// The number before the unit.
std::pair<double, std::string> numberAndUnit(const std::string& text) {
  std::istringstream parts(text);
  std::pair<double, std::string> both;
  if (parts >> both.first) parts >> both.second;
  return both;
}

/// 1.683 and 1.6830 are the same clock, and so are 1.2x and 1.20x; any other difference counts.
bool same(const std::string& printed, const std::string& computed) {
  return printed == computed ||
         (!printed.empty() && !computed.empty() && numberAndUnit(printed) == numberAndUnit(computed) &&
          numberAndUnit(printed).first != 0);
}

std::vector<std::string> notesOf(const std::string& name) {
  const auto tables = recomputedPublishedTables(publishedFigures);
  for (size_t i = 0; i < publishedTables().size(); ++i) {
    if (publishedTables()[i].name == name) return tables[i].notes;
  }
  return {};
}

bool anyHas(const std::vector<std::string>& notes, const std::vector<std::string>& parts) {
  return std::ranges::any_of(notes, [&](const std::string& note) {
    return std::ranges::all_of(parts, [&](const std::string& part) { return note.find(part) != std::string::npos; });
  });
}

TEST(SeedTables, EveryPrintedCellIsRecomputedFromTheRawFigures) {
  const auto printed = printedCells();
  const Cells computed = computedCells(publishedFigures);
  ASSERT_EQ(printed.size(), 667u);
  std::vector<std::string> different;
  for (const auto& [place, text] : printed) {
    const auto found = computed.find(place);
    if (found == computed.end() ? !text.empty() : !same(text, found->second)) {
      different.push_back(concat(join(place, " | "), ": printed ", text, ", computed ",
                                 found == computed.end() ? "nothing" : found->second));
    }
  }
  // The document's own contradiction: 91.15 % beside it are 1.82x.
  EXPECT_EQ(different, std::vector<std::string>{"batches/speedup | 2 | 4096: printed 1.80x, computed 1.82x"});
}

TEST(SeedTables, AChangedFigureChangesEveryCellMadeOfIt) {
  const auto changed = [](std::string_view name) {
    DataPoints figures = publishedFigures(name);
    if (name == "tf_benchmarks") figures.rows.front().at("images_per_s") = "284";  // one P100, instead of 142
    return figures;
  };
  const Cells before = computedCells(publishedFigures), after = computedCells(changed);
  std::map<std::string, int> different;
  for (const auto& [place, text] : before) {
    if (after.at(place) != text) ++different[place.front()];
  }
  // Its own column or row: 3 more GPUs, 1 ratio by data, 3 by batch (of speed-ups) or 1 (of rates), 1 and 1; medians.
  EXPECT_GE(different.at("tf_benchmarks/speedup"), 3);
  EXPECT_GE(different.at("tf_benchmarks/efficiency"), 3);
  EXPECT_GE(different.at("tf_benchmarks/synthetic_real"), 1);
  EXPECT_GE(different.at("tf_benchmarks/batch_speedups"), 3);
  EXPECT_GE(different.at("tf_benchmarks/batch_rates"), 1);
  EXPECT_GE(different.at("tf_benchmarks/p100_k80"), 1);
  EXPECT_GE(different.at("tf_benchmarks/resnet50_inception3"), 1);
  EXPECT_EQ(after.at({"tf_benchmarks/speedup", "64 synthetic inception3 P100", "2"}), "1.00x");
}

TEST(SeedTables, DocumentsThatContradictThemselvesAreCalledOut) {
  EXPECT_TRUE(anyHas(notesOf("tf_benchmarks/efficiency"), {"104.93%", "596", "569", "transposed"}));
  EXPECT_TRUE(anyHas(notesOf("batches/speedup"), {"1.80x", "91.15%", "1.82x"}));
  EXPECT_TRUE(anyHas(notesOf("keras/inception3_speedup"), {"4.49x", "4.774x"}));
  EXPECT_TRUE(anyHas(notesOf("tensorpack/2019"), {"p2.16xlarge", "V100"}));
  EXPECT_TRUE(anyHas(notesOf("clocks/clock"), {"memoryClockRate", "core clock"}));
  EXPECT_TRUE(anyHas(notesOf("mlp/speedup"), {"21M", "41,157,101"}));
  EXPECT_TRUE(anyHas(notesOf("keras/inception3_rate"), {"kuza55", "global"}));
  EXPECT_TRUE(anyHas(notesOf("densenet121/rate"), {"12120", "112,120"}));
  EXPECT_TRUE(anyHas(notesOf("densenet121/rate"), {"0.8227", "0.8186"}));
}

TEST(SeedTables, RatiosThatTheDocumentsDoNotPrint) {
  const Cells cells = computedCells(publishedFigures);
  std::vector<std::string> against;
  for (const char* gpus : {"1", "2", "4", "8"}) against.push_back(cells.at({"tensorpack/against", "replicated", gpus}));
  EXPECT_EQ(against, (std::vector<std::string>{"1.01x", "1.01x", "1.02x", "1.02x"}));
  EXPECT_EQ(cells.at({"tensorpack/fp16", "V100 8", "ratio"}), "1.84x");
  EXPECT_EQ(cells.at({"tensorpack/xla", "V100 8", "ratio"}), "1.57x");
  EXPECT_EQ(cells.at({"densenet121/speedup", "4", "speed-up"}), "3.01x");
  EXPECT_EQ(cells.at({"densenet121/efficiency", "4", "efficiency"}), "75.21%");
}

TEST(PublishedFigures, TheMlpHasTheParametersOfItsLog) {
  const std::array<int64_t, 6> widths{8000, 4000, 2000, 500, 300, 1};
  int64_t parameters = 0;
  for (size_t i = 1; i < widths.size(); ++i) parameters += (widths[i - 1] + 1) * widths[i];
  EXPECT_EQ(publishedFigures("mlp").rows.front().at("parameters"), concat(parameters));
}

TEST(SeedTables, WhatARemarkSaysTheDocumentPrintsIsNotWhatTheFiguresGive) {
  const Cells cells = computedCells(publishedFigures);
  int checked = 0;
  for (const Remark& remark : publishedRemarks()) {
    if (remark.printed.empty()) continue;
    EXPECT_NE(cells.at({remark.table, remark.row, remark.column}), remark.printed);
    ++checked;
  }
  EXPECT_GE(checked, 2);
}

TEST(SeedTables, ObservationsComeOfTheFigures) {
  std::string text;
  for (const TableRow& row : sheetObservations(publishedFigures).rows) text += join(row.cells, ": ") + "\n";
  for (const std::string part :
       {"1.93x for 2, 3.87x for 4, 7.44x for 8", "96.42% for 2, 96.84% for 4, 93.02% for 8", "up to 104.93%",
        "1.00x for 1, 1.00x for 2, 1.01x for 4, 1.02x for 8", "1.00x for 1, 1.01x for 2, 1.01x for 4, 1.02x for 8",
        "1.07x for 1, 1.07x for 2, 1.08x for 4, 1.09x for 8", "4.40x", "1.61x", "29.75", "50.35"}) {
    EXPECT_NE(text.find(part), std::string::npos) << part << "\n" << text;
  }
}

}  // namespace
}  // namespace tandem
