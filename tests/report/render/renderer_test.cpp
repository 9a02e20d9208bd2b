#include "report/render/renderer.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <regex>
#include <sstream>
#include <utility>

#include "base/catalog.h"
#include "base/text.h"
#include "base/utf8.h"
#include "config/option.h"
#include "measure/metrics/metric.h"
#include "measure/record/record_json.h"
#include "measure/record_example.h"
#include "report/render/print_report.h"
#include "report/tables/result_table.h"
#include "support/tests_folder.h"

namespace tandem {
namespace {

std::string rendered(std::string_view format, const std::vector<RunRecord>& records) {
  std::ostringstream out;
  const auto renderer = find(renderers(), format, "format").make(out);
  for (const RunRecord& record : records) renderer->add(record);
  renderer->end();
  return out.str();
}

std::vector<RunRecord> sweep() {
  std::vector<RunRecord> records{
      exampleRecord(1, "replicated", 99.5), exampleRecord(2, "replicated", 103.25),
      failedRecord(2, ExitCode::peer, "replica 1 ended:\nkilled by signal 9 | raise --point-deadline"),
      exampleRecord(2, "parameter_server", 120)};
  records[1].warmup.steady = false;
  records[3].placement.sharedCores = true;
  records[3].notes = {"load 3.2 before the run"};
  return records;
}

/// An escape sequence, a line break, directions of text, and a byte that is no UTF-8.
const std::string hostile = "\x1b[2J\nx\xe2\x80\xae\xe2\x81\xa6\x9b";

RunRecord shortRun() {
  RunRecord record = exampleRecord(2, "replicated", 100);
  record.steps = exampleSteps(2, 4, 100);
  record.measuredSteps = 4;
  record.window = millis(404);
  record.losses.clear();
  record.peakMemoryBytes = 0;
  return record;
}

std::vector<RunRecord> skippedAndOk() {
  RunRecord skipped = failedRecord(4, ExitCode::usage, "4 replicas need 4 cores, 2 are usable");
  skipped.outcome.kind = OutcomeKind::skipped;
  skipped.config.exchange.strategy = "independent";
  return {shortRun(), skipped};
}

/// Compares with tests/report/golden/NAME.txt; what was rendered is left in the build folder.
void expectGolden(const std::string& name, const std::string& text) {
  const std::filesystem::path actual = TANDEM_BINARY_DIR "/golden-actual";
  std::filesystem::create_directories(actual);
  std::ofstream(actual / (name + ".txt")) << text;
  std::ifstream file(testsFolder() + "/report/golden/" + name + ".txt");
  std::stringstream golden;
  golden << file.rdbuf();
  EXPECT_EQ(text, golden.str()) << name;
}

/// The lines of RFC 4180 text, each as its fields.
std::vector<std::vector<std::string>> parseCsv(const std::string& text) {
  std::vector<std::vector<std::string>> lines;
  std::vector<std::string> fields{""};
  bool inQuotes = false;
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (inQuotes && c == '"' && i + 1 < text.size() && text[i + 1] == '"') {
      fields.back() += text[++i];
    } else if (c == '"') {
      inQuotes = !inQuotes;
    } else if (c == ',' && !inQuotes) {
      fields.emplace_back();
    } else if (c == '\n' && !inQuotes) {
      lines.push_back(std::exchange(fields, {""}));
    } else {
      fields.back() += c;
    }
  }
  return lines;
}

TEST(Renderer, GoldenTables) {
  expectGolden("table_sweep", rendered("table", sweep()));
  expectGolden("table_skipped", rendered("table", skippedAndOk()));
  expectGolden("md_sweep", rendered("md", sweep()));
  expectGolden("md_skipped", rendered("md", skippedAndOk()));
  expectGolden("table_none", rendered("table", {}));
  expectGolden("md_none", rendered("md", {}));
}

TEST(Renderer, EveryRowOfTheCatalogTakesAnyNumberOfRecords) {
  const std::vector<std::vector<RunRecord>> cases{
      {},
      {exampleRecord(1, "replicated", 100)},
      {failedRecord(1, ExitCode::numeric, "loss is NaN")},
      {exampleRecord(1, "replicated", 100), failedRecord(2, ExitCode::numeric, "loss is NaN"), fullRecord()}};
  for (const RendererEntry& entry : renderers()) {
    for (const auto& records : cases) {
      const std::string text = rendered(entry.name, records);
      ASSERT_FALSE(text.empty()) << entry.name;
      EXPECT_EQ(text.back(), '\n') << entry.name;
      EXPECT_FALSE(std::regex_search(text, std::regex("[^-a-z]nan"))) << entry.name << ": " << text;
      for (const RunRecord& record : records) {
        const std::string reason = record.outcome.reason.substr(0, record.outcome.reason.find('\n'));
        EXPECT_NE(text.find(reason), std::string::npos) << entry.name << ": " << text;
      }
    }
    EXPECT_FALSE(entry.summary.empty()) << entry.name;
  }
}

TEST(Renderer, TextIsPlainAsciiWithoutTrailingBlanks) {
  for (const char* format : {"table", "md"}) {
    const std::string text = rendered(format, sweep());
    EXPECT_TRUE(std::ranges::all_of(text, [](unsigned char c) { return c < 0x7f && (c >= 0x20 || c == '\n'); }));
    EXPECT_EQ(text.find(" \n"), std::string::npos);
  }
}

TEST(Renderer, OptionsThatDifferAreColumnsAndReplicasAlways) {
  const auto heading = [](const std::vector<RunRecord>& records) {
    const std::string text = rendered("table", records);
    return text.substr(0, text.find("images/s"));
  };
  std::vector<RunRecord> records{exampleRecord(1, "replicated", 100), exampleRecord(1, "replicated", 100)};
  EXPECT_NE(heading(records).find("replicas"), std::string::npos);
  EXPECT_EQ(heading(records).find("strategy"), std::string::npos);
  records[1].config.exchange.strategy = "independent";
  records[1].config.output.out = "other.jsonl";
  EXPECT_NE(heading(records).find("strategy"), std::string::npos);
  EXPECT_EQ(heading(records).find("out"), std::string::npos);
}

/// A run whose texts, as somebody may have put them into a results file, would act on a terminal.
RunRecord hostileRecord(int64_t replicas) {
  RunRecord record = exampleRecord(replicas, "replicated", 100);
  for (std::string* text : {&record.environment.host, &record.environment.os, &record.config.input.data,
                            &record.notes.emplace_back(), &record.interference.reasons.emplace_back(),
                            &record.placement.replicas.front(), &record.placement.link, &record.sweep}) {
    *text = hostile;
  }
  record.environment.variables = {{hostile, hostile}};
  record.config.network.model = concat(hostile, replicas);
  return record;
}

std::string printed(const RendererEntry& entry, const std::vector<RunRecord>& records) {
  std::ostringstream out;
  printReport(records, entry, out);
  printBenchEnd(records, entry, out, out);
  entry.print({{buildTable(records)}}, out);
  return out.str();
}

TEST(Renderer, WhatRecordsHoldDoesNothingToATerminal) {
  const std::vector<RunRecord> records{hostileRecord(1), hostileRecord(2), failedRecord(1, ExitCode::peer, hostile)};
  for (const char* const format : {"table", "md", "csv"}) {
    const std::string text = printed(find(renderers(), format, "format"), records);
    for (const std::string& line : split(text, "\n")) EXPECT_EQ(withoutControls(line), line) << format;
    for (const char* const part : {"\\x1b[2J", "\\u202e", "\\u2066", "\\x9b", "\\x0a"}) {
      EXPECT_NE(text.find(part), std::string::npos) << format << ' ' << part;
    }
  }
}

TEST(Csv, HasAFieldForEveryOptionAndMetricAndQuotesByRfc4180) {
  std::vector<RunRecord> records = sweep();
  records[0].config.input.data = "a,\"b\"\nc";
  records[0].notes = {"one, two", "three"};
  const auto lines = parseCsv(rendered("csv", records));
  ASSERT_EQ(lines.size(), 5u);
  std::map<std::string, std::string> first, failed;
  for (size_t i = 0; i < lines[0].size(); ++i) {
    EXPECT_TRUE(first.emplace(lines[0][i], lines[1].at(i)).second) << lines[0][i];
    failed[lines[0][i]] = lines[3].at(i);
  }
  for (const Option& option : options()) {
    if ((option.commands & inRecords) == 0) {
      EXPECT_FALSE(first.contains(std::string(option.name))) << option.name;
      continue;
    }
    EXPECT_EQ(first.at(std::string(option.name)), withoutControls(valueText(records[0].config, option)));
  }
  for (const Metric& metric : metrics()) {
    const auto value = metric.of(records[0], &records[0]);
    const std::string text = first.at(std::string(metric.name));
    EXPECT_EQ(text.empty(), !value.has_value()) << metric.name;
    if (value) {
      EXPECT_EQ(std::stod(text), *value) << metric.name;
    }
    EXPECT_EQ(failed.at(std::string(metric.name)), "") << metric.name;
  }
  EXPECT_EQ(first.at("notes"), "one, two; three");
  EXPECT_EQ(failed.at("outcome"), "failed (peer)");
  EXPECT_EQ(failed.at("reason"), withoutControls(records[2].outcome.reason));
}

TEST(Json, IsAnArrayOfTheStoredRecords) {
  for (const auto& records : {std::vector<RunRecord>{}, {fullRecord()}, sweep()}) {
    const auto array = nlohmann::json::parse(rendered("json", records));
    ASSERT_TRUE(array.is_array());
    ASSERT_EQ(array.size(), records.size());
    for (size_t i = 0; i < records.size(); ++i) EXPECT_TRUE(recordFromJson(array[i]) == records[i]);
  }
}

}  // namespace
}  // namespace tandem
