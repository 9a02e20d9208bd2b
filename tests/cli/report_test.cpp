#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <tuple>

#include "base/text.h"
#include "measure/record/results_file.h"
#include "measure/record_example.h"
#include "run_tandem.h"
#include "support/contains.h"

namespace tandem {
namespace {

/// A results file of the records in the running test's own folder.
std::string results(const std::string& name, const std::vector<RunRecord>& records) {
  std::string path = ownFolder() + "/" + name;
  ResultsFile file(path);
  for (const RunRecord& record : records) file.append(record);
  return path;
}

std::string textOf(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

std::vector<RunRecord> sweep() {
  return {exampleRecord(1, "replicated", 100), exampleRecord(2, "replicated", 99),
          failedRecord(4, ExitCode::numeric, "loss is NaN")};
}

/// Four runs of one configuration, whose steps differ by about 1 %.
std::vector<RunRecord> repeats(double stepMs) {
  std::vector<RunRecord> runs;
  for (const double more : {0.0, 1.0, 0.5, 0.3}) {
    runs.push_back(exampleRecord(2, "replicated", stepMs + more));
    runs.back().time = concat("2026-01-02T03:04:0", runs.size(), "Z");
  }
  return runs;
}

TEST(Report, OfResultsHasEnvironmentRunsScalingAndVerdict) {
  const auto run = runForked({"report", results("results.jsonl", sweep())});
  ASSERT_EQ(run.code, 0) << run.err;
  for (const auto& part :
       {"Environment", "box", "loss is NaN", "speed-up by replicas", "2.00x", "highest replicas=2"}) {
    EXPECT_TRUE(contains(run.out, part)) << part << run.out;
  }
}

TEST(Report, EveryFormatShowsTheRuns) {
  const std::string path = results("results.jsonl", sweep());
  EXPECT_EQ(nlohmann::json::parse(runForked({"report", path, "--format=json"}).out).size(), 3u);
  EXPECT_TRUE(contains(runForked({"report", path, "--format=csv"}).out, "images_per_s"));
  EXPECT_TRUE(contains(runForked({"report", path, "--format=md"}).out, "## Environment"));
  const auto run = runForked({"report", path, "--format=xml"});
  EXPECT_EQ(run.code, 2);
  EXPECT_TRUE(contains(run.err, "table, md, csv, json, html"));
}

TEST(Report, OutIsWrittenWholeOrNotAtAll) {
  const std::string path = results("results.jsonl", sweep()), page = ownFolder() + "/page.html";
  EXPECT_EQ(runForked({"report", path, "--format=html", "--out=" + page}).code, 0);
  const std::string first = textOf(page);
  EXPECT_TRUE(first.starts_with("<!DOCTYPE html>"));
  EXPECT_EQ(runForked({"report", path, "--format=html"}).out, first);
  EXPECT_EQ(runForked({"report", ownFolder() + "/none.jsonl", "--format=html", "--out=" + page}).code, 3);
  EXPECT_EQ(textOf(page), first);
  EXPECT_EQ(runForked({"report", path, "--out=" + ownFolder() + "/none/page.html"}).code, 8);
}

TEST(Report, OutNeverReplacesTheRuns) {
  const std::string path = results("results.jsonl", sweep()), before = textOf(path);
  for (const std::string& source : {path, path + ":1"}) {
    const auto run = runForked({"report", source, "--out=" + path});
    EXPECT_EQ(run.code, 2);
    EXPECT_TRUE(contains(run.err, "is read and would be replaced")) << run.err;
  }
  EXPECT_EQ(textOf(path), before);
}

TEST(Report, RowsOfAFileAreChosen) {
  const std::string path = results("results.jsonl", sweep());
  const auto count = [&](const std::string& rows) {
    return nlohmann::json::parse(runForked({"report", path + rows, "--format=json"}).out).size();
  };
  EXPECT_EQ(count(":2"), 1u);
  EXPECT_EQ(count(":2-3"), 2u);
  for (const auto& [rows, part] : std::vector<std::pair<std::string, std::string>>{{":4", "the rows are 1 to 3"},
                                                                                   {":2-4", "the rows are 1 to 3"},
                                                                                   {":0", "counted from 1"},
                                                                                   {":3-2", "counted from 1"}}) {
    const auto run = runForked({"report", path + rows});
    EXPECT_EQ(run.code, 2);
    EXPECT_TRUE(contains(run.err, part)) << run.err;
  }
}

TEST(Report, OfSeveralFilesTheSameRunCountsOnce) {
  const std::string first = results("first.jsonl", sweep()), second = results("second.jsonl", sweep());
  const auto run = runForked({"report", first, second, "--format=json"});
  EXPECT_EQ(run.code, 0);
  EXPECT_EQ(nlohmann::json::parse(run.out).size(), 3u);
  EXPECT_TRUE(contains(run.err, "more than once"));
}

TEST(Report, ATornLastLineIsLeftOutWithAWarning) {
  const std::string path = results("results.jsonl", sweep());
  std::ofstream(path, std::ios::app) << R"({"config":{"batch":)";
  const auto run = runForked({"report", path, "--format=json"});
  EXPECT_EQ(run.code, 0);
  EXPECT_EQ(nlohmann::json::parse(run.out).size(), 3u);
  EXPECT_TRUE(contains(run.err, "line 4 is torn"));
}

TEST(Report, FilesThatAreNoResultsAreDataErrors) {
  const std::string folder = ownFolder();
  std::ofstream(folder + "/foreign.jsonl") << "{\"name\": \"package\"}\n";
  std::ofstream(folder + "/empty.jsonl") << "";
  const std::string newer = results("newer.jsonl", sweep());
  std::ifstream file(newer);
  std::string line;
  std::getline(file, line);
  line.replace(line.find("\"schema\":1"), 10, "\"schema\":9");
  std::ofstream(folder + "/newer.jsonl") << line << '\n';
  for (const auto& [name, part] : std::vector<std::pair<std::string, std::string>>{
           {"foreign.jsonl", "line 1"}, {"empty.jsonl", "no record"}, {"newer.jsonl", "schema"}, {"none", "none"}}) {
    const auto run = runForked({"report", concat(folder, "/", name)});
    EXPECT_EQ(run.code, 3) << name;
    EXPECT_EQ(run.errors().size(), 1u) << run.err;
    EXPECT_TRUE(contains(run.err, part)) << run.err;
  }
}

TEST(Report, UsageErrorsSaySo) {
  for (const auto& arguments : std::vector<std::vector<std::string>>{
           {"report"}, {"report", "--colour"}, {"report", "import"}, {"report", "published", "no such system"}}) {
    const auto run = runForked(arguments);
    EXPECT_EQ(run.code, 2);
    EXPECT_EQ(run.errors().size(), 1u) << run.err;
  }
  EXPECT_TRUE(contains(runForked({"report", "--help"}).out, "seed-tables"));
}

TEST(Report, PublishedFiguresHaveTheirSourceAndAreFiltered) {
  const auto run = runForked({"report", "published", "h200", "tf32"});
  EXPECT_EQ(run.code, 0);
  EXPECT_TRUE(contains(run.out, "lambdal/deeplearning-benchmark"));
  EXPECT_TRUE(contains(run.out, "2259"));
  EXPECT_FALSE(contains(run.out, "24479"));
}

TEST(Report, SeedTablesNeedNoFileAndAreMadeOfOwnRunsToo) {
  const auto published = runForked({"report", "seed-tables"});
  EXPECT_EQ(published.code, 0);
  for (const auto& part : {"104.93%", "96.42%", "1.61x", "4.774x"}) EXPECT_TRUE(contains(published.out, part)) << part;
  const auto own = runForked({"report", "seed-tables", results("results.jsonl", sweep())});
  EXPECT_EQ(own.code, 0);
  EXPECT_TRUE(contains(own.out, "100.00%"));
}

TEST(Report, APublishedListIsImportedAgain) {
  const std::string path = ownFolder() + "/list.csv";
  std::ofstream(path) << runForked({"report", "published", "sheet of the official", "--format=csv"}).out;
  const auto run = runForked({"report", "import", path});
  EXPECT_EQ(run.code, 0) << run.err;
  for (const auto& part : {"96.42%", "ratio of images/s, machine dgx-1 against gce"}) {
    EXPECT_TRUE(contains(run.out, part)) << run.out;
  }
}

TEST(ReportCompare, ChoosesRowsJudgesAndRefuses) {
  std::vector<RunRecord> several = repeats(99);
  const auto others = sweep();
  several.insert(several.begin(), others.front());
  several.push_back(others.back());
  const std::string path = results("results.jsonl", several), slower = results("slower.jsonl", repeats(120));
  const auto run = runForked({"report", "compare", path + ":2", slower});
  EXPECT_EQ(run.code, 0) << run.err;
  EXPECT_TRUE(contains(run.out, "A against B: faster by 20.9 %")) << run.out;
  const std::string once = results("once.jsonl", {exampleRecord(2, "replicated", 120)});
  const auto single = runForked({"report", "compare", path + ":2", once});
  EXPECT_EQ(single.code, 0) << single.err;
  EXPECT_TRUE(contains(single.out, "A against B: cannot tell")) << single.out;
  const std::vector<std::tuple<std::vector<std::string>, int, std::string>> refused{
      {{path, slower}, 2, "--replicas is 1 and 2"},
      {{path + ":3", slower}, 9, "loss is NaN"},
      {{path + ":4", slower}, 2, "the rows are 1 to 3"},
      {{path + ":0", slower}, 2, "counted from 1"},
      {{slower}, 2, "it holds 0 whole rounds of a 'tandem bench --compare'"},
      {{path, slower, once}, 2, "needs A and B"},
      {{slower, "none.jsonl"}, 3, "none.jsonl"}};
  for (const auto& [sides, code, part] : refused) {
    std::vector<std::string> arguments{"report", "compare"};
    arguments.insert(arguments.end(), sides.begin(), sides.end());
    const auto refusal = runForked(arguments);
    EXPECT_EQ(refusal.code, code) << refusal.err;
    EXPECT_EQ(refusal.errors().size(), 1u);
    EXPECT_TRUE(contains(refusal.err, part)) << refusal.err;
  }
}

TEST(ReportHistory, ShowsEachConfigurationInEveryFormat) {
  RunRecord later = exampleRecord(2, "replicated", 120);
  later.time = "2026-01-03T03:04:05Z";
  later.environment.commit = "later";
  std::vector<RunRecord> runs = repeats(99);
  runs.push_back(later);
  const std::string path = results("results.jsonl", runs);
  const auto run = runForked({"report", "history", path});
  EXPECT_EQ(run.code, 0) << run.err;
  EXPECT_TRUE(contains(run.out, "History of resnet50")) << run.out;
  EXPECT_TRUE(contains(run.out, "regression: than the run before slower by 17.1 %")) << run.out;
  EXPECT_EQ(nlohmann::json::parse(runForked({"report", "history", path, "--format=json"}).out).size(), 1u);
  EXPECT_TRUE(contains(runForked({"report", "history", path, "--format=csv"}).out, "run before (%)"));
  EXPECT_EQ(runForked({"report", "history"}).code, 2);
  EXPECT_EQ(runForked({"report", "history", "none.jsonl"}).code, 3);
}

TEST(Report, ARunOnAKnownDeviceStandsBesideWhatWasPublished) {
  RunRecord record = exampleRecord(1, "replicated", 100);
  record.config.placement.devices = "cuda:0";
  record.config.network.imageSize = record.placement.ownImageSize = 224;
  record.placement.replicas = {"cuda:0 Tesla P100-SXM2-16GB"};
  for (const char* format : {"table", "md"}) {
    const auto run = runForked({"report", results("known.jsonl", {record}), concat("--format=", format)});
    EXPECT_EQ(run.code, 0) << run.err;
    EXPECT_TRUE(contains(run.out, "Nearest published figures")) << run.out;
    EXPECT_TRUE(contains(run.out, "tf_cnn_benchmarks, 1 x P100")) << run.out;
  }
}

TEST(Report, AnEditedRecordIsADataError) {
  const std::string path = results("results.jsonl", sweep());
  std::ifstream file(path);
  std::string text((std::istreambuf_iterator<char>(file)), {});
  text.replace(text.find("\"global_batch\":16"), 17, "\"global_batch\":99");
  std::ofstream(path, std::ios::trunc) << text;
  const auto run = runForked({"report", path});
  EXPECT_EQ(run.code, 3);
  EXPECT_TRUE(contains(run.err, "line 1: the record was changed after it was written")) << run.err;
}

}  // namespace
}  // namespace tandem
