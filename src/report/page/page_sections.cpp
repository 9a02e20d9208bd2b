#include "report/page/page_sections.h"

#include <algorithm>
#include <array>

#include "base/text.h"
#include "report/analysis/how_it_compares.h"
#include "report/tables/environment_table.h"
#include "report/tables/point_label.h"
#include "report/tables/profile_tables.h"

namespace tandem {
namespace {

constexpr size_t mostShown = 12;

std::vector<ResultTable> runsTables(const PageRuns& runs) { return {buildTable(runs.all())}; }

std::vector<ResultTable> scalingTables(const PageRuns& runs) { return runs.figures().scaling; }
std::vector<ResultTable> sideBySideTables(const PageRuns& runs) { return runs.figures().sideBySide; }
std::vector<ResultTable> ratioTables(const PageRuns& runs) { return runs.figures().ratios; }

std::vector<ResultTable> rightTables(const PageRuns& runs) { return howItComparesTables(runs.all()); }

std::vector<ResultTable> takenApartTables(const PageRuns& runs) { return profileTables(runs.all()); }

std::vector<ResultTable> environmentTables(const PageRuns& runs) {
  std::vector<ResultTable> tables{environmentTable(runs.all())};
  tables.front().title.clear();
  return tables;
}

}  // namespace

PageRuns::PageRuns(std::span<const RunRecord> records) : records_(records), differing_(differingOptions(records)) {
  for (size_t i = 0; i < records.size(); ++i) {
    if (records[i].outcome.kind == OutcomeKind::ok) shown_.push_back(i + 1);
  }
  finished_ = shown_.size();
  if (finished_ > mostShown) shown_.erase(shown_.begin(), shown_.end() - mostShown);
  DataPoints figures = dataPointsFrom(records);
  if (!figures.rows.empty()) figures_ = figureTablesOf(std::move(figures), "the runs");
}

std::string PageRuns::nameOf(size_t row) const { return concat(row, ": ", pointLabel(at(row), differing_)); }

std::string PageRuns::leftOut() const {
  if (finished_ == shown_.size()) return "";
  return concat("Shown are the last ", shown_.size(), " of ", finished_, " finished runs (", rowsText(shown_),
                "); tandem report FILE:FIRST-LAST --format=html makes the page of any others.");
}

std::span<const PageSection> pageSections() {
  static constexpr std::array table{
      PageSection{
          "runs", "Runs",
          "Every run in the order of the files. Rows with a mark have a caveat, which the notes below explain; a "
          "number that was not measured is empty.",
          runsTables, false},
      PageSection{"scaling", "Scaling",
                  "Rate, speed-up over one device and efficiency, against ideal (dashed). A hollow point has a caveat, "
                  "a star in the table.",
                  scalingTables, false},
      PageSection{"right", "Is my number right?",
                  "Each run beside the two ceilings of its machine, and beside the nearest figure that somebody else "
                  "published for such a device.",
                  rightTables, false},
      PageSection{"side-by-side", "Strategies and options side by side",
                  "Rates by the values of each option that differs, all others equal. A hollow bar has a caveat.",
                  sideBySideTables, false},
      PageSection{"step", "Where a step's time goes",
                  "Mean of the measured steps of all replicas. Exchange is what remains after it was overlapped with "
                  "backward, the update included.",
                  stepPartsTables, true},
      PageSection{
          "profile", "Steps taken apart",
          "Of the runs with --profile: the median of each part of a step by replica, who comes last to the "
          "exchange, the work of a step beside the measured peaks, when each replica comes to each exchange, and of "
          "GPUs the kernels of a step, what they achieve, and the gaps between them.",
          takenApartTables, false},
      PageSection{"telemetry", "Telemetry over time",
                  "One line per device, from the first step to the last; the phases of the run are marked. Tables give "
                  "the median of each phase.",
                  telemetryTables, true},
      PageSection{"distribution", "Distribution of step times", "Each measured step counts with its slowest replica.",
                  stepTimesTables, true},
      PageSection{"ratios", "Ratios", "One value of an option against another, all others equal.", ratioTables, false},
      PageSection{"environment", "Environment", "What the runs were measured on.", environmentTables, false},
  };
  return table;
}

}  // namespace tandem
