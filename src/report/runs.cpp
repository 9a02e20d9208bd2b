#include "report/runs.h"

#include "base/text.h"
#include "report/tables/point_label.h"
#include "report/tables/result_table.h"

namespace tandem {
namespace {

constexpr size_t mostShown = 12;

}  // namespace

ReportRuns::ReportRuns(std::span<const RunRecord> records)
    : records_(records), groups_(groupsOf(records)), differing_(differingOptions(records)) {
  for (size_t i = 0; i < groups_.size(); ++i) {
    if (!groups_[i].shown().empty()) shown_.push_back(i + 1);
  }
  finished_ = shown_.size();
  if (finished_ > mostShown) shown_.erase(shown_.begin(), shown_.end() - mostShown);
}

const FigureTables& ReportRuns::figures() const {
  if (!figures_) {
    DataPoints points = dataPointsFrom(records_);
    figures_ = points.rows.empty() ? FigureTables{} : figureTablesOf(std::move(points), "the runs");
  }
  return *figures_;
}

std::string ReportRuns::labelOf(size_t row) const { return pointLabel(at(row), differing_); }
std::string ReportRuns::nameOf(size_t row) const { return concat(row, ": ", labelOf(row)); }

std::string ReportRuns::leftOut() const {
  if (finished_ == shown_.size()) return "";
  return concat("Shown are the last ", shown_.size(), " of ", finished_, " rows with a finished run (",
                rowsText(shown_), "); tandem report FILE:FIRST-LAST --format=html makes the page of any others.");
}

}  // namespace tandem
