#include "report/render/print_report.h"

#include <algorithm>
#include <sstream>

#include "base/text.h"
#include "base/utf8.h"
#include "config/command_line.h"
#include "config/modes.h"
#include "formats/io/atomic_file.h"
#include "report/analysis/comparison.h"
#include "report/analysis/verdict.h"
#include "report/contents.h"
#include "report/render/builtin_renderers.h"
#include "report/tables/point_label.h"
#include "report/tables/result_table.h"

namespace tandem {
namespace {

void printRuns(std::span<const RunRecord> records, const RendererEntry& format, std::ostream& out) {
  const auto renderer = format.make(out);
  for (const RunRecord& record : records) renderer->add(record);
  renderer->end();
}

std::string allRunsText(std::span<const RunRecord> records) { return "all runs: " + sharedOptionsText(records); }

/// Options and notes of records stand in them, which may hold anything.
void printLines(const std::vector<std::string>& lines, std::ostream& out) {
  for (const std::string& line : lines) out << withoutControls(line) << '\n';
}

/// The verdict, and what is said of its fastest run.
void addConclusion(const Verdict& verdict, std::vector<std::string>& lines) {
  lines.push_back(textOf(verdict));
  if (verdict.fastest == nullptr) return;
  for (const ReportSection* section : sectionsOf(&ReportSection::afterBench)) {
    if (section->onFastest != nullptr)
      std::ranges::move(section->onFastest(*verdict.fastest), std::back_inserter(lines));
  }
}

/// The caveats and notes of a run.
std::vector<std::string> notesOf(const RunRecord& record) {
  std::vector<std::string> notes;
  for (const std::string& text : caveatTexts(record)) notes.push_back("note: " + text);
  for (const std::string& text : record.notes) notes.push_back("note: " + oneLine(text));
  return notes;
}

/// The command by which an interrupted training goes on. Empty for others.
std::string resumeCommand(const RunRecord& record) {
  if (!record.training->interrupted || record.config.training.checkpoint.empty()) return "";
  Config again = record.config;
  again.training.resume = std::ranges::find_if(resumes(), [](const ResumeEntry& row) { return row.wanted; })->name;
  return commandLine("train", again);
}

}  // namespace

void printReport(std::span<const RunRecord> records, const RendererEntry& format, std::ostream& out) {
  if (format.forPrograms) return printRuns(records, format, out);
  const ReportRuns runs(records);
  std::vector<ResultTable> tables;
  for (const ReportSection* section : sectionsOf(&ReportSection::inText)) {
    std::ranges::move(titledTables(*section, runs), std::back_inserter(tables));
  }
  printLines({allRunsText(records)}, out);
  out << '\n';
  format.print(tables, out);
  out << '\n';
  if (const std::string compared = comparisonFinding(records); !compared.empty()) printLines({compared}, out);
  out << verdictText(records) << '\n';
}

void printBenchEnd(std::span<const RunRecord> records, const RendererEntry& format, std::ostream& out,
                   std::ostream& people) {
  printRuns(records, format, out);
  out.flush();
  const ReportRuns runs(records);
  std::vector<ResultTable> tables;
  for (const ReportSection* section : sectionsOf(&ReportSection::afterBench)) {
    if (section->onFastest == nullptr) std::ranges::move(titledTables(*section, runs), std::back_inserter(tables));
  }
  std::vector<std::string> lines{allRunsText(records)};
  for (const Verdict& verdict : verdictsOn(records)) addConclusion(verdict, lines);
  for (const Verdict& verdict : verdictsAcrossRounding(records)) lines.push_back(textOf(verdict));
  if (!format.forPrograms && !tables.empty()) people << '\n';
  (format.forPrograms ? printText : format.print)(tables, people);
  if (!format.forPrograms) people << '\n';
  printLines(lines, people);
  people.flush();
}

void printTrainingEnd(const RunRecord& record, const RendererEntry& format, std::ostream& out, std::ostream& people) {
  const std::span<const RunRecord> records(&record, 1);
  if (format.forPrograms) printRuns(records, format, out);
  out.flush();
  const ReportRuns runs(records);
  std::vector<ResultTable> tables;
  std::vector<std::string> lines = notesOf(record);
  lines.push_back(allRunsText(records));
  if (const std::string command = resumeCommand(record); !command.empty()) lines.push_back("go on with: " + command);
  for (const ReportSection* section : sectionsOf(&ReportSection::afterTraining)) {
    if (section->onFastest != nullptr) {
      std::ranges::move(section->onFastest(record), std::back_inserter(lines));
    } else {
      std::ranges::move(titledTables(*section, runs), std::back_inserter(tables));
    }
  }
  std::ostream& shown = format.forPrograms ? people : out;
  (format.forPrograms ? printText : format.print)(tables, shown);
  shown << '\n';
  printLines(lines, shown);
  shown.flush();
}

void writeReport(const std::string& text, const std::string& path) { writeAtomically(path, asBytes(text)); }

void writePage(std::span<const RunRecord> records, const std::string& path) {
  std::ostringstream page;
  const auto renderer = makeHtmlRenderer(page);
  for (const RunRecord& record : records) renderer->add(record);
  renderer->end();
  writeReport(page.str(), path);
}

}  // namespace tandem
