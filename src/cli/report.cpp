#include <algorithm>
#include <fstream>
#include <iostream>
#include <sstream>

#include "base/catalog.h"
#include "base/log.h"
#include "base/text.h"
#include "cli/commands.h"
#include "cli/own_image_size.h"
#include "measure/results_file.h"
#include "report/comparison.h"
#include "report/environment_table.h"
#include "report/history.h"
#include "report/point_label.h"
#include "report/profile_tables.h"
#include "report/published.h"
#include "report/renderer.h"
#include "report/seed_tables.h"
#include "report/standing.h"

namespace tandem {
namespace {

constexpr std::string_view usage =
    "Usage: tandem report FILE... [--format=table|md|csv|json]\n"
    "       tandem report seed-tables [FILE...] [--format=...]\n"
    "       tandem report published [WORD...] [--format=...]\n"
    "       tandem report import FILE.csv [--format=...]\n"
    "       tandem report compare A B [--format=...]\n"
    "       tandem report history FILE... [--format=...]\n\n"
    "Of results files (JSON lines, as bench writes them): the environment, every run with its caveats, the steps of\n"
    "profiles taken apart, scaling against ideal, ratios between all values of the options that differ, the fastest, and\n"
    "where each stands between the ceilings of its machine and what others published. csv and json give the runs "
    "alone.\n\n"
    "  seed-tables  the tables of the published experiments, computed anew from their raw images/s; with FILE the "
    "same\n"
    "               tables of one's own runs\n"
    "  published    what others measured, each figure with its source; with WORDs those that have all of them\n"
    "  import       the same tables of any CSV with the columns images_per_s and replicas, devices or gpus; every "
    "other\n"
    "               column is a fact in which figures may differ\n"
    "  compare      whether A is faster than B, by how much and how surely, and what differs between them; A and B "
    "are\n"
    "               FILE, with one or more runs of one configuration, or FILE:ROW, a row of 'tandem report FILE'; of "
    "two\n"
    "               profiles also which parts of the step differ. Runs that did other work are refused (exit code 2), "
    "and\n"
    "               numbers not to be quoted (exit code 9)\n"
    "  history      each configuration over time, every run against the one before and the best, regressions marked\n\n"
    "  tandem report tandem-results.jsonl --format=md\n"
    "  tandem report published H100 fp16\n";

struct Request {
  std::vector<std::string> words;
  const RendererEntry* format;
};

Request requestOf(Arguments arguments) {
  constexpr std::string_view option = "--format=";
  Request request{{}, &renderers().front()};
  for (const std::string& argument : arguments) {
    if (argument.starts_with(option)) {
      request.format = &find(renderers(), std::string_view(argument).substr(option.size()), "--format");
    } else if (argument.starts_with("-")) {
      throw UsageError(concat("tandem report: unknown option '", argument, "'; the only one is --format=NAME"));
    } else {
      request.words.push_back(argument);
    }
  }
  return request;
}

/// The records of all files. The same run in several places counts once.
std::vector<RunRecord> recordsOf(const std::vector<std::string>& files) {
  std::vector<RunRecord> all;
  for (const std::string& file : files) {
    for (RunRecord& record : readResults(file)) {
      if (std::ranges::find(all, record) == all.end()) {
        all.push_back(std::move(record));
      } else {
        logWarning(concat(file, ": the run of ", record.time, " is there more than once; it counts once"));
      }
    }
  }
  if (all.empty()) throw DataError(concat(join(files), ": no record in it"));
  return all;
}

std::string textOf(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::stringstream text;
  text << file.rdbuf();
  if (!file || file.bad()) throw DataError(concat(path, ": cannot read it"));
  return text.str();
}

void print(const Request& request, const std::vector<ResultTable>& tables) { request.format->print(tables, std::cout); }

int reportRuns(const Request& request) {
  const auto records = recordsOf(request.words);
  if (request.format->forPrograms) {
    const auto renderer = request.format->make(std::cout);
    for (const RunRecord& record : records) renderer->add(record);
    renderer->end();
    return 0;
  }
  std::vector<ResultTable> tables{environmentTable(records), buildTable(records)};
  tables.back().title = "Runs";
  std::ranges::move(profileTables(records), std::back_inserter(tables));
  const Figures figures = figuresFrom(records);
  std::ranges::move(standingTables(records, ownImageSize), std::back_inserter(tables));
  if (!figures.rows.empty()) std::ranges::move(tablesOf(figures, join(request.words)), std::back_inserter(tables));
  print(request, tables);
  std::cout << '\n' << verdict(records) << '\n';
  return 0;
}

int reportSeedTables(const Request& request) {
  if (request.words.empty()) {
    print(request, recomputedSeedTables(published));
  } else {
    print(request, tablesOf(figuresFrom(recordsOf(request.words)), join(request.words)));
  }
  return 0;
}

std::string lower(std::string text) {
  std::ranges::transform(text, text.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return text;
}

bool hasAll(const Facts& figure, const std::vector<std::string>& words) {
  return std::ranges::all_of(words, [&](const std::string& word) {
    return std::ranges::any_of(
        figure, [&](const auto& fact) { return lower(fact.second).find(lower(word)) != std::string::npos; });
  });
}

int reportPublished(const Request& request) {
  Figures figures = allPublished();
  std::erase_if(figures.rows, [&](const Facts& figure) { return !hasAll(figure, request.words); });
  if (figures.rows.empty()) {
    throw UsageError(
        concat("no published figure has '", join(request.words, "' and '"), "'; 'tandem report published' prints all"));
  }
  print(request, {listOf(figures)});
  return 0;
}

int reportImport(const Request& request) {
  if (request.words.size() != 1) {
    throw UsageError(concat("tandem report import: needs one CSV file, ", request.words.size(), " given"));
  }
  const std::string& path = request.words.front();
  print(request, tablesOf(figuresFrom(parseCsv(textOf(path), path), path), path));
  return 0;
}

/// "results.jsonl:3" is the third record of the file; "results.jsonl" all that finished.
Side sideOf(const std::string& text) {
  const size_t colon = text.rfind(':');
  const std::string digits = colon == std::string::npos ? "" : text.substr(colon + 1);
  if (digits.empty() || digits.find_first_not_of("0123456789") != std::string::npos || digits.size() > 9) {
    Side side{text, recordsOf({text})};
    std::erase_if(side.runs, [](const RunRecord& run) { return run.outcome.kind != OutcomeKind::ok; });
    if (side.runs.empty()) throw InvalidMeasurement(text + ": no run in it has finished");
    checkOneConfiguration(text, side.runs);
    return side;
  }
  const auto records = recordsOf({text.substr(0, colon)});
  const size_t row = std::stoul(digits);
  if (row < 1 || row > records.size()) throw UsageError(concat(text, ": the rows are 1 to ", records.size()));
  const RunRecord& run = records[row - 1];
  if (run.outcome.kind != OutcomeKind::ok) {
    throw InvalidMeasurement(concat(text, ": that run did not finish: ", oneLine(run.outcome.reason)));
  }
  return {text, {run}};
}

int reportCompare(const Request& request) {
  if (request.words.size() != 2) {
    throw UsageError(concat("tandem report compare: needs A and B, ", request.words.size(), " given"));
  }
  print(request, comparison(sideOf(request.words[0]), sideOf(request.words[1])));
  return 0;
}

int reportHistory(const Request& request) {
  if (request.words.empty()) throw UsageError("tandem report history: no results file given");
  print(request, history(recordsOf(request.words)));
  return 0;
}

struct Verb {
  std::string_view name;
  int (*run)(const Request&);
};

constexpr Verb verbs[] = {
    {"seed-tables", reportSeedTables}, {"published", reportPublished}, {"import", reportImport},
    {"compare", reportCompare},        {"history", reportHistory},
};

}  // namespace

int reportCommand(Arguments arguments) {
  if (asksForHelp(arguments)) {
    std::cout << usage;
    return 0;
  }
  Request request = requestOf(arguments);
  if (request.words.empty()) throw UsageError("tandem report: no results file given; see 'tandem report --help'");
  const auto verb = std::ranges::find(verbs, request.words.front(), &Verb::name);
  if (verb == std::end(verbs)) return reportRuns(request);
  request.words.erase(request.words.begin());
  return verb->run(request);
}

}  // namespace tandem
