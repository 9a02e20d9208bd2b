#include "report/tables/equality_table.h"

#include <algorithm>

#include "base/text.h"
#include "report/tables/point_label.h"

namespace tandem {
namespace {

/// Null if the run's steps were not compared.
const EqualityStamp* stampOf(const RunRecord& record) {
  const bool compared = record.outcome.kind == OutcomeKind::ok && record.equality && record.equality->compared();
  return compared ? &*record.equality : nullptr;
}

/// That with the largest error; null: none of the runs was compared.
const EqualityStamp* worstStamp(std::span<const RunRecord* const> runs) {
  const EqualityStamp* worst = nullptr;
  for (const RunRecord* run : runs) {
    const EqualityStamp* const stamp = stampOf(*run);
    if (stamp != nullptr && (worst == nullptr || stamp->error.whole > worst->error.whole)) worst = stamp;
  }
  return worst;
}

/// Of the runs that were compared.
bool allBitEqual(std::span<const RunRecord* const> runs) {
  return std::ranges::all_of(runs,
                             [](const RunRecord* run) { return stampOf(*run) == nullptr || stampOf(*run)->bitEqual; });
}

std::string worstText(const ChangeError& error) { return concat(scientific(error.worst), " ", error.where); }

std::string replicasText(const EqualityStamp& stamp) {
  if (stamp.bitEqual) return "bit-equal";
  return stamp.differenceOfReplicas < 0 ? "" : scientific(stamp.differenceOfReplicas);
}

/// Two cells: of plain ATen, or empty ones.
void addPlain(std::vector<std::string>& cells, const PlainError* plain) {
  cells.push_back(plain == nullptr ? "" : scientific(plain->error.whole));
  cells.push_back(plain == nullptr ? "" : worstText(plain->error));
}

std::vector<std::string> cellsOf(const std::string& name, const EqualityStamp& stamp) {
  std::vector<std::string> cells{name, concat(stamp.steps), scientific(stamp.error.whole), worstText(stamp.error)};
  addPlain(cells, &stamp.plain.front());
  addPlain(cells, stamp.plain.size() > 1 ? &stamp.plain.back() : nullptr);
  cells.push_back(replicasText(stamp));
  cells.push_back(fixed(stamp.seconds, 2));
  return cells;
}

}  // namespace

std::string equalText(std::span<const RunRecord* const> runs) {
  const EqualityStamp* const worst = worstStamp(runs);
  return worst == nullptr ? "" : concat(allBitEqual(runs) ? "bit-equal, " : "", scientific(worst->error.whole));
}

std::string equalNote(std::span<const RunRecord* const> runs) {
  if (const EqualityStamp* const worst = worstStamp(runs)) {
    if (!allBitEqual(runs)) return "";
    return concat("equal: bit for bit the weights of one replica with the same kernels after ", worst->steps, " steps");
  }
  const auto asked = std::ranges::find_if(
      runs, [](const RunRecord* run) { return run->outcome.kind == OutcomeKind::ok && run->equality; });
  return asked == runs.end() ? "" : concat("equal: not compared: ", oneLine((*asked)->equality->reason));
}

std::vector<ResultTable> equalityTables(const ReportRuns& runs) {
  ResultTable table{{{"run", "", false},
                     {"steps", "", true},
                     {"error", "", true},
                     {"worst parameter", "", false},
                     {"plain fp32", "", true},
                     {"its worst", "", false},
                     {"plain, own precision", "", true},
                     {"its worst", "", false},
                     {"to one replica", "", true},
                     {"took", "s", true}},
                    {},
                    {}};
  for (size_t row = 1; row <= runs.groups().size(); ++row) {
    const EqualityStamp* const stamp = worstStamp(runs.groups()[row - 1].runs);
    if (stamp != nullptr) table.rows.push_back({cellsOf(runs.nameOf(row), *stamp), ""});
  }
  if (table.rows.empty()) return {};
  return {std::move(table)};
}

}  // namespace tandem
