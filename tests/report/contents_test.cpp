#include "report/contents.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <sstream>

#include "base/catalog.h"
#include "measure/record_example.h"
#include "report/render/print_report.h"

namespace tandem {
namespace {

std::vector<std::string> idsOf(ReportForm form) {
  std::vector<std::string> ids;
  for (const ReportSection* section : sectionsOf(form)) ids.emplace_back(section->id);
  return ids;
}

std::vector<RunRecord> runs() {
  std::vector<RunRecord> records;
  for (const double more : {0.0, 0.1, 0.2}) {
    records.push_back(exampleRecord(1, "replicated", 100 + more));
    records.push_back(exampleRecord(2, "replicated", 99 + more));
  }
  for (RunRecord& record : records) record.flopsPeak = 1e12, record.placement.flopsPerImage = 24.3e9;
  return records;
}

/// The place of `part` in `text`, which must have it.
size_t at(const std::string& text, const std::string& part) {
  EXPECT_NE(text.find(part), std::string::npos) << part << '\n' << text;
  return text.find(part);
}

TEST(ReportContents, EveryFormCountsItsSectionsFromOne) {
  for (const ReportForm form : {&ReportSection::inText, &ReportSection::afterBench, &ReportSection::afterTraining}) {
    int position = 0;
    for (const ReportSection* section : sectionsOf(form)) EXPECT_EQ(section->*form, ++position) << section->id;
    EXPECT_GT(position, 0);
  }
}

TEST(ReportContents, ATextBeginsWithTheMachineAndEndsWithRatiosAndTheVerdict) {
  EXPECT_EQ(idsOf(&ReportSection::inText),
            (std::vector<std::string>{"environment", "runs", "trainings", "evaluations", "classes", "course", "profile",
                                      "right", "devices", "scaling", "ratios", "equal", "input"}));
  std::ostringstream out;
  printReport(runs(), find(renderers(), "table", "format"), out);
  const std::string text = out.str();
  EXPECT_EQ(text.find("all runs: --cores-per-replica=1, synthetic images\n\nEnvironment\n"), 0U) << text;
  EXPECT_LT(at(text, "\n\nRuns\n"), at(text, "\n\nCeilings of the machine\n"));
  EXPECT_LT(at(text, "\n\nCeilings of the machine\n"), at(text, "\n\nimages/s by replicas\n"));
  EXPECT_LT(at(text, "\n\nspeed-up by replicas\n"), at(text, "\n\nfastest: replicas=2, "));
}

TEST(ReportContents, BenchEndsWithTheRunsTheVerdictAndTheCeilingsOfTheFastest) {
  std::ostringstream text;
  printBenchEnd(runs(), find(renderers(), "table", "format"), text, text);
  EXPECT_EQ(text.str().find("Runs\n"), std::string::npos) << "the runs have no title";
  EXPECT_LT(at(text.str(), "replicas"), at(text.str(), "\nfastest: replicas=2, "));
  EXPECT_LT(at(text.str(), "\nfastest: replicas=2, "), at(text.str(), "images/s, the ceiling of FLOPs"));
}

TEST(ReportContents, AFormatForProgramsHasItsStreamAlone) {
  std::ostringstream out, people;
  printBenchEnd(runs(), find(renderers(), "json", "format"), out, people);
  EXPECT_EQ(nlohmann::json::parse(out.str()).size(), 6U);
  EXPECT_EQ(people.str().find("all runs: --cores-per-replica=1, synthetic images\nfastest: replicas=2, "), 0U)
      << people.str();
}

}  // namespace
}  // namespace tandem
