#include "report/tables/result_table.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <variant>

#include "base/statistics.h"
#include "base/text.h"
#include "measure/metrics/metric.h"
#include "measure/validity/consistency_checks.h"
#include "measure/validity/interference.h"
#include "measure/validity/shortcoming.h"
#include "measure/validity/stationarity.h"
#include "report/analysis/baseline.h"
#include "report/tables/equality_table.h"
#include "report/tables/point_label.h"
#include "report/tables/staleness_note.h"
#include "report/tables/updates_note.h"

namespace tandem {
namespace {

/// A group of repeats on its way into a row.
struct GroupRow {
  const RunGroup& group;
  const Baselines& baselines;
  std::vector<const RunRecord*> shown;

  GroupRow(const RunGroup& of, const Baselines& known) : group(of), baselines(known), shown(of.shown()) {}
};

/// A column of the table: a metric, or what is known of all repeats together.
struct MetricColumn {
  std::string_view metric, heading;
  /// Empty: the median of the metric over the runs.
  std::optional<double> (*of)(const GroupRow&) = nullptr;
  bool ofSomeRuns = false;  ///< left out where no row has a value
};

std::optional<double> medianOf(std::string_view name, const GroupRow& row) {
  std::vector<double> values;
  for (const RunRecord* run : row.shown) {
    if (const auto value = metric(name).of(*run, row.baselines.of(row.group, *run))) values.push_back(*value);
  }
  return median(values);
}

/// Half of the 95 % interval of an estimated logarithm, in percent.
double halfWidthPercent(const Estimate& logarithm) {
  const Interval interval = intervalOf(logarithm, 0.95);
  return 100 * std::expm1((interval.high - interval.low) / 2);
}

std::optional<double> spreadPercent(const GroupRow& row) {
  if (const auto rate = logRateOf(row.group)) return halfWidthPercent(*rate);
  return medianOf("spread_percent", row);
}

std::optional<double> speedupSpreadPercent(const GroupRow& row) {
  const RunGroup* baseline = row.baselines.of(row.group);
  if (baseline == nullptr || baseline == &row.group) return std::nullopt;
  const auto ratio = ratioOf(row.group, *baseline);
  return ratio ? std::optional(halfWidthPercent(ratio->estimate)) : std::nullopt;
}

constexpr std::array metricColumns{
    MetricColumn{"images_per_s", "images/s"},
    MetricColumn{"spread_percent", "+-", spreadPercent},
    MetricColumn{"epoch_s", "epoch", nullptr, /*ofSomeRuns=*/true},
    MetricColumn{"step_median_ms", "step median"},
    MetricColumn{"step_p95_ms", "step p95"},
    MetricColumn{"input_wait_percent", "input"},
    MetricColumn{"exposed_comm_percent", "comm"},
    MetricColumn{"speedup", "speed-up"},
    MetricColumn{"spread_percent", "+-", speedupSpreadPercent},
    MetricColumn{"efficiency_percent", "efficiency"},
    MetricColumn{"peak_memory_mib", "memory"},
    MetricColumn{"final_loss", "loss"},
};

/// The columns of a table of these runs.
std::vector<MetricColumn> columnsOf(std::span<const RunRecord> records) {
  std::vector<MetricColumn> columns;
  for (const MetricColumn& column : metricColumns) {
    const auto known = [&](const RunRecord& record) { return metric(column.metric).of(record, nullptr).has_value(); };
    if (!column.ofSomeRuns || std::ranges::any_of(records, known)) columns.push_back(column);
  }
  return columns;
}

std::string cellOf(const MetricColumn& column, const GroupRow& row) {
  const auto value = column.of == nullptr ? medianOf(column.metric, row) : column.of(row);
  return value ? fixed(*value, metric(column.metric).decimals) : "";
}

struct Caveat {
  std::string brief;  ///< text in the result column; empty: the caveat is only below the table
  std::string text;
  bool doubt = true;  ///< whether it casts doubt on the rate
};

std::vector<Caveat> caveatsOf(const RunRecord& record) {
  std::vector<Caveat> caveats;
  if (record.outcome.kind == OutcomeKind::ok) {
    if (!record.interference.reasons.empty()) {
      caveats.push_back({"not valid", concat("not valid: ", join(record.interference.reasons, "; "))});
    }
    for (const std::string& doubt : doubts(record)) caveats.push_back({doubt.substr(0, doubt.find(':')), doubt});
    if (record.measuredSteps < static_cast<int64_t>(fewestJudgedSteps)) {
      caveats.push_back({"", concat("fewer than ", fewestJudgedSteps,
                                    " steps: a change of the step time within the window is not seen")});
    }
    if (record.window < shortestShare) {
      const bool unchecked = isUnchecked(record);
      caveats.push_back({unchecked ? "not checked" : "",
                         concat(unchecked ? "not checked: " : "", "a window of less than ", seconds(shortestShare),
                                " s: whether other programs used its CPUs is not known",
                                unchecked ? ", and something waited for a CPU" : "", "; raise --steps or --budget")});
    }
    if (record.config.step.loaderOnly) {
      caveats.push_back({"", "batches only: nothing was computed"});
    } else if (record.config.step.forwardOnly) {
      caveats.push_back({"", "forward only: nothing was trained"});
    }
    const std::string unsteady = notSteadyBecause(record);
    if (!unsteady.empty()) caveats.push_back({"not steady", "not steady: " + unsteady});
    if (record.placement.sharedCores) {
      caveats.push_back({"shared cores",
                         "shared cores: replicas shared cores (--oversubscribe), so speed-up says "
                         "nothing about separate devices"});
    }
    if (record.profile) {
      caveats.push_back({"profile", "profile: its steps were taken apart; throughput is measured without --profile",
                         /*doubt=*/false});
    }
    if (record.placement.control) {
      caveats.push_back({"control", "control: the replicas exchange nothing, so this is no way of training one network",
                         /*doubt=*/false});
    }
  }
  for (const std::string& note : record.notes) caveats.push_back({"", oneLine(note)});
  return caveats;
}

template <class Chosen>
std::string briefOf(const RunRecord& record, Chosen chosen) {
  std::vector<std::string> brief;
  for (const Caveat& caveat : caveatsOf(record)) {
    if (!caveat.brief.empty() && std::invoke(chosen, caveat)) brief.push_back(caveat.brief);
  }
  return join(brief);
}

/// Joins the same caveat of several rows to one note, in the order of their first rows.
class Notes {
 public:
  void add(size_t row, const std::string& text) {
    if (text.empty()) return;
    const auto known = std::ranges::find(notes_, text, &Note::text);
    if (known == notes_.end()) {
      notes_.push_back({text, {row}});
    } else if (known->rows.back() != row) {
      known->rows.push_back(row);
    }
  }

  std::vector<std::string> take() const {
    std::vector<std::string> lines;
    for (const Note& note : notes_) {
      lines.push_back(concat(rowsText(note.rows), ": ", note.text));
    }
    return lines;
  }

 private:
  struct Note {
    std::string text;
    std::vector<size_t> rows;
  };
  std::vector<Note> notes_;
};

bool isNumber(const Option& option) { return takes<int64_t>(option) || takes<double>(option); }

/// The text in the result column: the caveats of the runs that are shown, and how many others there are. Empty: ok.
std::string resultOf(const RunGroup& group) {
  std::vector<std::string> parts;
  const std::string ofShown = briefCaveats(group.typical());
  if (!ofShown.empty()) parts.push_back(ofShown);
  std::vector<const RunRecord*> others;
  std::ranges::set_difference(group.runs, group.shown(), std::back_inserter(others));
  for (const auto& [name, remedy, runs] : countShortcomings(others)) {
    if (runs > 0) parts.push_back(concat(runs, " of ", group.runs.size(), ' ', name));
  }
  return join(parts);
}

/// A note on some runs of a group. Runs with the same brief caveat share it, and the first of them says more.
struct GroupNote {
  std::string key, text;
  size_t runs = 0;
};

/// The caveats of all runs of a group, and the failures of some.
std::vector<std::string> notesOf(const RunGroup& group) {
  std::vector<GroupNote> found;
  const auto count = [&](const std::string& key, const std::string& text) {
    const auto known = std::ranges::find(found, key, &GroupNote::key);
    (known == found.end() ? found.emplace_back(GroupNote{key, text}) : *known).runs += 1;
  };
  for (const RunRecord* run : group.runs) {
    for (const Caveat& caveat : caveatsOf(*run)) count(caveat.brief.empty() ? caveat.text : caveat.brief, caveat.text);
    if (run->outcome.kind != OutcomeKind::ok && !group.shown().empty()) count("failed", failureText(run->outcome));
  }
  std::vector<std::string> notes;
  for (const auto& [key, text, runs] : found) {
    const bool all = runs == group.runs.size();
    notes.push_back(concat(all ? "" : concat(runs, " of ", group.runs.size(), " runs: "),
                           runs > 1 && key != text ? "the first: " : "", text));
  }
  return notes;
}

/// What the speed-up is relative to, or why there is none. Empty for a baseline.
std::string baselineText(const GroupRow& row, std::span<const RunGroup> groups) {
  const RunGroup* baseline = row.baselines.of(row.group);
  if (baseline == &row.group) return "";
  if (baseline == nullptr) {
    return "no baseline: no 1-replica row equals it in every other option, machine and build, so speed-up and "
           "efficiency are empty";
  }
  const auto number = baseline - groups.data() + 1;
  if (row.baselines.of(row.group, row.group.typical()) != nullptr)
    return concat("speed-up and efficiency are relative to row ", number);
  const std::string why = briefCaveats(baseline->typical());
  return concat("the baseline, row ", number, ", is ", why, ", so speed-up and efficiency are empty");
}

/// Whether the rows say what lies between the devices of a run: not if that is the same for all.
bool showsLinks(std::span<const RunRecord> records) {
  return std::ranges::any_of(
      records, [&](const RunRecord& record) { return record.placement.link != records.front().placement.link; });
}

std::vector<TableColumn> columnsFor(std::span<const Option* const> differing, std::span<const MetricColumn> measured,
                                    bool withLinks, bool repeated) {
  std::vector<TableColumn> columns{{"#", "", true}};
  for (const Option* option : differing) {
    columns.push_back({std::string(option->name), std::string(option->unit), isNumber(*option)});
  }
  if (withLinks) columns.push_back({"link", "", false});
  if (repeated) columns.push_back({"runs", "", true});
  for (const MetricColumn& column : measured) {
    const std::string_view unit = metric(column.metric).unit, heading = column.heading;
    columns.push_back({std::string(heading), unit == heading ? "" : std::string(unit), true});
  }
  columns.push_back({"equal", "", true});
  columns.push_back({"result", "", false, /*caveats=*/true});
  return columns;
}

}  // namespace

std::string failureText(const Outcome& outcome) {
  if (outcome.kind == OutcomeKind::skipped) return "skipped: " + oneLine(outcome.reason);
  return concat("failed (", nameOf(outcome.code), "): ", oneLine(outcome.reason));
}

std::string briefCaveats(const RunRecord& record) {
  return briefOf(record, [](const Caveat&) { return true; });
}

std::string rateCaveats(const RunRecord& record) { return briefOf(record, &Caveat::doubt); }
std::vector<std::string> caveatTexts(const RunRecord& record) {
  std::vector<std::string> texts;
  for (const Caveat& caveat : caveatsOf(record)) {
    if (!caveat.brief.empty()) texts.push_back(caveat.text);
  }
  return texts;
}

std::string rowsText(std::span<const size_t> rows) {
  std::vector<std::string> parts;
  for (size_t first = 0; first < rows.size();) {
    size_t last = first;
    while (last + 1 < rows.size() && rows[last + 1] == rows[last] + 1) ++last;
    if (last > first + 1) {
      parts.push_back(concat(rows[first], " to ", rows[last]));
    } else {
      for (size_t i = first; i <= last; ++i) parts.push_back(concat(rows[i]));
    }
    first = last + 1;
  }
  return concat(rows.size() == 1 ? "row " : "rows ", join(parts));
}

std::string headingOf(const TableColumn& column) {
  return column.unit.empty() ? column.heading : concat(column.heading, " (", column.unit, ")");
}

ResultTable buildTable(std::span<const RunRecord> records) {
  const auto differing = differingOptions(records);
  const auto groups = groupsOf(records);
  const bool repeated = groups.size() < records.size();
  const bool withLinks = showsLinks(records);
  const auto measured = columnsOf(records);
  ResultTable table{columnsFor(differing, measured, withLinks, repeated), {}, {}};
  Notes notes;
  const Baselines baselines(groups);
  for (const RunGroup& group : groups) {
    const GroupRow shown(group, baselines);
    const size_t number = table.rows.size() + 1;
    TableRow row{{concat(number)}, ""};
    for (const Option* option : differing) row.cells.push_back(oneLine(valueText(group.typical().config, *option)));
    if (withLinks) row.cells.push_back(oneLine(group.typical().placement.link));
    if (repeated) row.cells.push_back(concat(shown.shown.size()));
    if (shown.shown.empty()) {
      row.failure = failureText(group.typical().outcome);
    } else {
      for (const MetricColumn& column : measured) row.cells.push_back(cellOf(column, shown));
      row.cells.push_back(equalText(group.runs));
      const std::string result = resultOf(group);
      row.cells.push_back(result.empty() ? "ok" : result);
      row.caveat = !result.empty();
      notes.add(number, baselineText(shown, groups));
      notes.add(number, equalNote(group.runs));
    }
    for (const std::string& note : notesOf(group)) notes.add(number, note);
    table.rows.push_back(std::move(row));
  }
  table.notes = notes.take();
  std::ranges::copy(updatesNotes(groups), std::back_inserter(table.notes));
  std::ranges::copy(stalenessNotes(groups), std::back_inserter(table.notes));
  return table;
}

}  // namespace tandem
