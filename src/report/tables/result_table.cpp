#include "report/tables/result_table.h"

#include <algorithm>
#include <array>
#include <functional>
#include <variant>

#include "base/text.h"
#include "measure/metrics/metric.h"
#include "measure/validity/consistency_checks.h"
#include "measure/validity/stationarity.h"
#include "report/tables/point_label.h"

namespace tandem {
namespace {

struct MetricColumn {
  std::string_view metric, heading;
};

constexpr std::array metricColumns{
    MetricColumn{"images_per_s", "images/s"},      MetricColumn{"spread_percent", "+-"},
    MetricColumn{"step_median_ms", "step median"}, MetricColumn{"step_p95_ms", "step p95"},
    MetricColumn{"input_wait_percent", "input"},   MetricColumn{"exposed_comm_percent", "comm"},
    MetricColumn{"speedup", "speed-up"},           MetricColumn{"efficiency_percent", "efficiency"},
    MetricColumn{"peak_memory_mib", "memory"},     MetricColumn{"final_loss", "loss"},
};

struct Caveat {
  std::string brief;  ///< text in the result column; empty: the caveat is only below the table
  std::string text;
  bool doubt = true;  ///< whether it casts doubt on the rate
};

std::vector<Caveat> caveatsOf(const RunRecord& record, const RunRecord* baseline) {
  std::vector<Caveat> caveats;
  if (record.outcome.kind == OutcomeKind::ok) {
    if (!record.interference.reasons.empty()) {
      caveats.push_back({"not valid", concat("not valid: ", join(record.interference.reasons, "; "))});
    }
    for (const std::string& doubt : doubts(record)) caveats.push_back({doubt.substr(0, doubt.find(':')), doubt});
    if (record.config.step.forwardOnly) caveats.push_back({"", "forward only: nothing was trained"});
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
    if (baseline == nullptr) {
      caveats.push_back({"",
                         "no baseline: no 1-replica row equals it in every other option, so speed-up and "
                         "efficiency are empty"});
    }
  }
  for (const std::string& note : record.notes) caveats.push_back({"", oneLine(note)});
  return caveats;
}

template <class Chosen>
std::string briefOf(const RunRecord& record, Chosen chosen) {
  std::vector<std::string> brief;
  for (const Caveat& caveat : caveatsOf(record, nullptr)) {
    if (!caveat.brief.empty() && std::invoke(chosen, caveat)) brief.push_back(caveat.brief);
  }
  return join(brief);
}

/// Joins the same caveat of several rows to one note, in the order of their first rows.
class Notes {
 public:
  void add(size_t row, const std::string& text) {
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

std::vector<TableColumn> columnsFor(std::span<const Option* const> differing) {
  std::vector<TableColumn> columns{{"#", "", true}};
  for (const Option* option : differing) {
    columns.push_back({std::string(option->name), std::string(option->unit), isNumber(*option)});
  }
  for (const auto& [name, heading] : metricColumns) {
    const std::string_view unit = metric(name).unit;
    columns.push_back({std::string(heading), unit == heading ? "" : std::string(unit), true});
  }
  columns.push_back({"result", "", false});
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
  for (const Caveat& caveat : caveatsOf(record, nullptr)) {
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
  ResultTable table{columnsFor(differing), {}, {}};
  Notes notes;
  const Baselines baselines(records);
  for (const RunRecord& record : records) {
    const RunRecord* baseline = baselines.of(record);
    const auto caveats = caveatsOf(record, baseline);
    TableRow row{{concat(table.rows.size() + 1)}, ""};
    for (const Option* option : differing) row.cells.push_back(oneLine(valueText(record.config, *option)));
    if (record.outcome.kind == OutcomeKind::ok) {
      for (const auto& column : metricColumns) row.cells.push_back(metricText(column.metric, record, baseline));
      const std::string brief = briefCaveats(record);
      row.cells.push_back(brief.empty() ? "ok" : brief);
      row.caveat = !brief.empty();
    } else {
      row.failure = failureText(record.outcome);
    }
    for (const Caveat& caveat : caveats) notes.add(table.rows.size() + 1, caveat.text);
    table.rows.push_back(std::move(row));
  }
  table.notes = notes.take();
  return table;
}

}  // namespace tandem
