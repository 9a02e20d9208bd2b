#include <algorithm>
#include <cmath>
#include <map>
#include <optional>

#include "base/text.h"
#include "measure/metrics/metric.h"
#include "measure/metrics/significance.h"
#include "report/analysis/comparison.h"
#include "report/analysis/run_groups.h"
#include "report/tables/point_label.h"

namespace tandem {
namespace {

constexpr size_t fewestDegrees = 3;  // with fewer, the spread between runs is hardly known

using Runs = std::vector<const RunRecord*>;

std::vector<Runs> historiesOf(std::span<const RunRecord> records) {
  std::vector<Runs> groups;
  for (const RunRecord& record : records) {
    const auto group = std::ranges::find_if(groups, [&](const Runs& runs) {
      return isSameConfiguration(*runs.front(), record) && isSameMachine(*runs.front(), record);
    });
    (group == groups.end() ? groups.emplace_back() : *group).push_back(&record);
  }
  for (Runs& runs : groups) std::ranges::stable_sort(runs, {}, &RunRecord::time);
  return groups;
}

std::string buildOf(const RunRecord& record) {
  const Environment& environment = record.environment;
  return concat(environment.commit.empty() ? environment.tandemVersion : environment.commit.substr(0, 12),
                environment.dirty ? " changed" : "");
}

bool isJudged(const RunRecord& record) {
  return record.outcome.kind == OutcomeKind::ok && briefCaveats(record).empty() && logRate(record).has_value();
}

/// Spread of log(images/s) between runs of the same build. Empty if too few runs show it.
std::optional<Estimate> differenceOfRuns(const Runs& runs) {
  std::map<std::string, std::vector<double>> ratesOf;
  for (const RunRecord* run : runs) {
    if (isJudged(*run)) ratesOf[buildOf(*run)].push_back(*logRate(*run));
  }
  double squares = 0;
  size_t degrees = 0;
  for (const auto& [build, rates] : ratesOf) {
    const auto deviation = standardDeviation(rates);
    if (!deviation) continue;
    squares += *deviation * *deviation * static_cast<double>(rates.size() - 1);
    degrees += rates.size() - 1;
  }
  if (degrees < fewestDegrees) return std::nullopt;
  return Estimate{0, std::sqrt(squares / static_cast<double>(degrees)), degrees};
}

std::string signedPercent(const Significance& judgement) {
  return concat(judgement.percent >= 0 ? "+" : "", fixed(judgement.percent, 1));
}

class HistoryTable {
 public:
  HistoryTable(std::string title, const Runs& runs) : between_(differenceOfRuns(runs)) {
    table_.title = std::move(title);
    for (const RunRecord* run : runs) add(*run);
    if (!between_) {
      table_.notes.emplace_back(
          "nothing is judged: too few runs of one build to know by how much runs differ; measure with --repeats");
    }
  }

  ResultTable take() { return std::move(table_); }

 private:
  void add(const RunRecord& run) {
    TableRow row{{run.time, oneLine(buildOf(run))}, ""};
    if (run.outcome.kind != OutcomeKind::ok) {
      row.failure = failureText(run.outcome);
    } else {
      for (const char* name : {"images_per_s", "images_per_s_low", "images_per_s_high"}) {
        row.cells.push_back(metricText(name, run, nullptr));
      }
      if (isJudged(run)) {
        addJudged(run, row);
      } else {
        const std::string caveats = briefCaveats(run);
        row.cells.insert(row.cells.end(), {"", "", (caveats.empty() ? "too few steps" : caveats) + ", not judged"});
      }
    }
    table_.rows.push_back(std::move(row));
  }

  void addJudged(const RunRecord& run, TableRow& row) {
    const Estimate rate{*logRate(run), between_ ? between_->standardError : 0, between_ ? between_->degrees : 1};
    std::vector<std::string> slower;
    for (const auto& [name, other] : {std::pair("the run before", &previous_), std::pair("the best", &best_)}) {
      if (!*other) {
        row.cells.emplace_back();
        continue;
      }
      const Significance judgement = significanceOf(difference(rate, **other));
      row.cells.push_back(signedPercent(judgement));
      if (between_ && judgement.finding == Finding::slower)
        slower.push_back(concat("than ", name, ' ', textOf(judgement)));
    }
    row.cells.push_back(!between_ ? "" : slower.empty() ? "ok" : "regression: " + join(slower));
    if (!best_ || rate.value > best_->value) best_ = rate;
    previous_ = rate;
  }

  ResultTable table_{{{"time", "", false},
                      {"build", "", false},
                      {"images/s", "", true},
                      {"from", "", true},
                      {"to", "", true},
                      {"run before", "%", true},
                      {"best before", "%", true},
                      {"result", "", false}},
                     {},
                     {},
                     "",
                     2};
  std::optional<Estimate> between_, previous_, best_;
};

}  // namespace

std::vector<ResultTable> historyTables(std::span<const RunRecord> records) {
  std::vector<ResultTable> tables;
  const auto differing = differingOptions(records);
  for (const Runs& runs : historiesOf(records)) {
    const RunRecord& first = *runs.front();
    std::string title = concat("History of ", first.config.network.model, ", ", pointLabel(first, differing), ", on ",
                               oneLine(first.environment.host));
    tables.push_back(HistoryTable(std::move(title), runs).take());
  }
  return tables;
}

}  // namespace tandem
