#include <algorithm>
#include <iostream>
#include <regex>
#include <sstream>

#include "base/catalog.h"
#include "base/log.h"
#include "base/text.h"
#include "cli/arguments/command_files.h"
#include "cli/commands.h"
#include "formats/io/file.h"
#include "measure/record/results_file.h"
#include "report/analysis/comparison.h"
#include "report/analysis/figure_tables.h"
#include "report/analysis/run_groups.h"
#include "report/published/published.h"
#include "report/published/published_tables.h"
#include "report/render/print_report.h"
#include "report/render/renderer.h"

namespace tandem {
namespace {

constexpr std::string_view usage =
    R"(Usage: tandem report FILE... [--format=table|md|csv|json|html] [--out=FILE]
       tandem report seed-tables [FILE...] [--format=...] [--out=FILE]
       tandem report published [WORD...] [--format=...] [--out=FILE]
       tandem report import FILE.csv [--format=...] [--out=FILE]
       tandem report compare A [B] [--format=...] [--out=FILE]
       tandem report history FILE... [--format=...] [--out=FILE]

Reports on results files, which bench writes as JSON lines. It prints the environment, every run with its caveats, the
parts of profiled steps, scaling against ideal, ratios between all values of the options that differ, and the fastest
run. It compares each run with the ceilings of its machine and with published figures. csv and json hold the runs alone.
html is one page that needs no network; it also has charts, telemetry and step times.
Control characters, and those that turn the direction of text, are shown as \x1b and \u202e; json has them as stored.
FILE:ROW and FILE:FIRST-LAST choose rows of 'tandem report FILE'; a row holds all runs of a configuration.

  --format=NAME  default table
  --out=FILE     write to a file, whole or not at all, instead of standard output

  seed-tables  the tables of the published experiments, recomputed from their raw images/s; with FILE the same tables
               of your own runs
  published    what others measured, each figure with its source; with WORDs only figures that have all of them
  import       the same tables of any CSV with the columns images_per_s and replicas, devices or gpus; every other
               column is a fact in which figures may differ
  compare      whether A is faster than B, by how much and how surely, and what differs between them. A and B are FILE,
               with one or more runs of one configuration, or FILE:ROW. For two profiles it also shows which parts of
               the step differ. Runs that did different work are refused (exit code 2). Runs whose numbers are not to
               be quoted are left out; if none is left, exit code 9. Without B, FILE is that of a 'tandem bench --compare'
  history      each configuration over time; every run is compared with the one before and the best, and regressions
               are marked

  tandem report tandem-results.jsonl --format=html --out=report.html
  tandem report published H100 fp16
)";

struct Request {
  std::vector<std::string> words;
  const RendererEntry* format;
  std::string file;  ///< empty: standard output
};

Request requestOf(Arguments arguments) {
  constexpr std::string_view format = "--format=", out = "--out=";
  Request request{{}, &renderers().front(), ""};
  for (const std::string& argument : arguments) {
    if (argument.starts_with(format)) {
      request.format = &find(renderers(), std::string_view(argument).substr(format.size()), "--format");
    } else if (argument.starts_with(out) && argument.size() > out.size()) {
      request.file = argument.substr(out.size());
    } else if (argument.starts_with("-")) {
      throw UsageError(
          concat("tandem report: unknown option '", argument, "'; there are --format=NAME and --out=FILE"));
    } else {
      request.words.push_back(argument);
    }
  }
  return request;
}

/// Appends the records. A run that is already there counts once, with a warning.
void append(std::vector<RunRecord>& all, std::vector<RunRecord> records, const std::string& path) {
  for (RunRecord& record : records) {
    if (std::ranges::find(all, record) == all.end()) {
      all.push_back(std::move(record));
    } else {
      logWarning(concat(path, ": the run of ", record.time, " is there more than once; it counts once"));
    }
  }
}

/// A results file, or some of its rows.
struct Source {
  std::string path;
  size_t first = 0, last = 0;  ///< from 1, both included; 0: all rows
};

/// Parses "results.jsonl", "results.jsonl:3" or "results.jsonl:3-8".
Source sourceOf(const std::string& text) {
  static const std::regex rows("(.+):([0-9]{1,9})(?:-([0-9]{1,9}))?");
  std::smatch parts;
  if (!std::regex_match(text, parts, rows)) return {text};
  const size_t first = std::stoul(parts[2]), last = parts[3].matched ? std::stoul(parts[3]) : first;
  if (first < 1 || last < first) throw UsageError(concat(text, ": rows are counted from 1, the first before the last"));
  return {parts[1], first, last};
}

std::vector<RunRecord> recordsIn(const std::string& text) {
  const Source source = sourceOf(text);
  std::vector<RunRecord> records;
  append(records, readResults(source.path), source.path);
  if (source.first == 0) return records;
  const auto groups = groupsOf(records);
  if (source.last > groups.size()) throw UsageError(concat(text, ": the rows are 1 to ", groups.size()));
  std::vector<RunRecord> chosen;
  for (size_t row = source.first; row <= source.last; ++row) {
    for (const RunRecord* run : groups[row - 1].runs) chosen.push_back(*run);
  }
  return chosen;
}

/// The records of all files. Throws DataError if there is none.
std::vector<RunRecord> recordsOf(const std::vector<std::string>& files) {
  std::vector<RunRecord> all;
  for (const std::string& file : files) append(all, recordsIn(file), file);
  if (all.empty()) throw DataError(concat(join(files), ": no record in it"));
  return all;
}

std::string textOf(const std::string& path) {
  const auto file = openForReading(path);
  std::stringstream text;
  text << file->rdbuf();
  if (!*file || file->bad()) throw DataError(concat(path, ": cannot read it"));
  return text.str();
}

void reportRuns(const Request& request, std::ostream& out) {
  printReport(recordsOf(request.words), *request.format, out);
}

void reportSeedTables(const Request& request, std::ostream& out) {
  if (request.words.empty()) {
    request.format->print(recomputedPublishedTables(publishedFigures), out);
  } else {
    request.format->print(tablesOf(dataPointsFrom(recordsOf(request.words)), join(request.words)), out);
  }
}

void reportPublished(const Request& request, std::ostream& out) {
  const DataPoints figures = publishedWith(request.words);
  if (figures.rows.empty()) {
    throw UsageError(
        concat("no published figure has '", join(request.words, "' and '"), "'; 'tandem report published' prints all"));
  }
  request.format->print(std::vector{listOf(figures)}, out);
}

void reportImport(const Request& request, std::ostream& out) {
  if (request.words.size() != 1) {
    throw UsageError(concat("tandem report import: needs one CSV file, ", request.words.size(), " given"));
  }
  const std::string& path = request.words.front();
  request.format->print(tablesOf(dataPointsFrom(parseCsv(textOf(path), path), path), path), out);
}

void reportCompare(const Request& request, std::ostream& out) {
  if (request.words.size() == 1) {
    const std::string& word = request.words.front();
    return request.format->print(storedComparison(word, sourceOf(word).path, recordsOf({word})), out);
  }
  if (request.words.size() != 2) {
    throw UsageError(concat("tandem report compare: needs A and B, or the file of a bench --compare; ",
                            request.words.size(), " given"));
  }
  std::vector<RunRecord> all;  // the same file may be named twice
  for (const std::string& word : request.words) {
    for (RunRecord& record : readResults(sourceOf(word).path)) {
      if (std::ranges::find(all, record) == all.end()) all.push_back(std::move(record));
    }
  }
  request.format->print(
      comparisonTables(sideOf(request.words[0], recordsOf({request.words[0]})),
                       sideOf(request.words[1], recordsOf({request.words[1]})), spreadOfRepeats(groupsOf(all))),
      out);
}

void reportHistory(const Request& request, std::ostream& out) {
  if (request.words.empty()) throw UsageError("tandem report history: no results file given");
  request.format->print(historyTables(recordsOf(request.words)), out);
}

struct Verb {
  std::string_view name;
  void (*run)(const Request&, std::ostream&);
};

constexpr Verb verbs[] = {
    {"seed-tables", reportSeedTables}, {"published", reportPublished}, {"import", reportImport},
    {"compare", reportCompare},        {"history", reportHistory},
};

void report(Request request, std::ostream& out) {
  const auto verb = std::ranges::find(verbs, request.words.front(), &Verb::name);
  if (verb == std::end(verbs)) return reportRuns(request, out);
  request.words.erase(request.words.begin());
  verb->run(request, out);
}

/// A report can be made again from raw samples, but not the samples.
void checkNotAnInput(const Request& request) {
  std::vector<CommandFile> files{{concat("--out=", request.file), request.file, FileUse::replaced}};
  for (const std::string& word : request.words) files.push_back({word, sourceOf(word).path});
  checkFiles(files);
}

void reportInto(const Request& request) {
  checkNotAnInput(request);
  std::ostringstream text;
  report(request, text);
  writeReport(text.str(), request.file);
}

}  // namespace

int reportCommand(Arguments arguments) {
  if (asksForHelp(arguments)) {
    std::cout << usage;
    return 0;
  }
  const Request request = requestOf(arguments);
  if (request.words.empty()) throw UsageError("tandem report: no results file given; see 'tandem report --help'");
  if (request.file.empty()) {
    report(request, std::cout);
  } else {
    reportInto(request);
  }
  return 0;
}

}  // namespace tandem
