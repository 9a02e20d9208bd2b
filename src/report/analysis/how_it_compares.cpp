#include <array>

#include "base/text.h"
#include "measure/metrics/metric.h"
#include "report/analysis/comparison.h"
#include "report/published/nearest_published.h"
#include "report/published/published.h"
#include "report/tables/point_label.h"

namespace tandem {
namespace {

struct CeilingColumn {
  std::string_view metric, heading;
};
constexpr std::array ceilingColumns{
    CeilingColumn{"images_per_s", "rate"},
    CeilingColumn{"gflops", "operations"},
    CeilingColumn{"flop_ceiling", "FLOP ceiling"},
    CeilingColumn{"flop_ceiling_percent", "of the FLOP ceiling"},
    CeilingColumn{"gbytes", "memory traffic"},
    CeilingColumn{"byte_ceiling", "byte ceiling"},
    CeilingColumn{"byte_ceiling_percent", "of the byte ceiling"},
};

std::optional<double> valueOf(std::string_view name, const RunRecord& record) {
  return metric(name).of(record, nullptr);
}

bool hasCeiling(const RunRecord& record) {
  return valueOf("flop_ceiling", record).has_value() || valueOf("byte_ceiling", record).has_value();
}

/// The ceiling that leaves less room.
std::string nearerCeiling(const RunRecord& record) {
  const auto flops = valueOf("flop_ceiling_percent", record), bytes = valueOf("byte_ceiling_percent", record);
  if (!flops || !bytes) return "";
  return *flops >= *bytes ? "FLOPs" : "bytes";
}

ResultTable ceilingTable(const ReportRuns& runs) {
  ResultTable table{{{"#", "", true}}, {}, {}, "Ceilings of the machine", 1};
  for (const auto& [name, heading] : ceilingColumns) {
    table.columns.push_back({std::string(heading), std::string(metric(name).unit), true});
  }
  table.columns.push_back({"nearer", "", false});
  for (size_t number = 1; number <= runs.groups().size(); ++number) {
    const RunRecord& run = runs.at(number);
    if (!hasCeiling(run)) continue;
    TableRow row{{concat(number)}, ""};
    for (const CeilingColumn& column : ceilingColumns) row.cells.push_back(metricText(column.metric, run, nullptr));
    row.cells.push_back(nearerCeiling(run));
    table.rows.push_back(std::move(row));
  }
  table.notes.emplace_back(
      "measured on the cores of each run; bytes are the least that a step moves, and fewer where caches hold them");
  return table;
}

std::string sourceText(const Facts& figure) {
  const auto fact = [&](const char* name) {
    const auto found = figure.find(name);
    return found == figure.end() ? std::string() : found->second;
  };
  const std::string devices = fact("devices");
  return concat(fact("system"), ", ", devices.empty() ? "1" : devices, " x ", fact("device"), "; ", fact("source"),
                ", ", fact("year"));
}

std::string rateText(const PublishedMatch& match) {
  return concat(fixed(match.imagesPerSecond, 2), match.perDevice ? " images/s per device" : " images/s");
}

NearestPublished nearestPublished() {
  static const DataPoints all = allPublished();
  return NearestPublished(all);
}

ResultTable publishedTable(const ReportRuns& runs) {
  ResultTable table{{{"#", "", true},
                     {"images/s", "", true},
                     {"of it", "%", true},
                     {"published", "", true},
                     {"by", "", false},
                     {"differs (run/published)", "", false}},
                    {},
                    {},
                    "Nearest published figures",
                    1};
  NearestPublished nearest = nearestPublished();
  for (size_t number = 1; number <= runs.groups().size(); ++number) {
    const auto match = nearest.of(runs.at(number));
    if (!match) continue;
    table.rows.push_back(
        {{concat(number), metricText("images_per_s", runs.at(number), nullptr), fixed(match->percent, 1),
          rateText(*match), sourceText(match->figure), join(match->differences)},
         ""});
  }
  return table;
}

std::string ceilingText(const RunRecord& record, const char* name, const char* share, const std::string& peak) {
  const auto percent = valueOf(share, record), limit = valueOf(name, record);
  if (!percent || !limit) return "";
  return concat(fixed(*percent, 1), " % of ", fixed(*limit, 2), " images/s, the ceiling of ", peak);
}

}  // namespace

std::vector<ResultTable> howItComparesTables(const ReportRuns& runs) {
  std::vector<ResultTable> tables{ceilingTable(runs), publishedTable(runs)};
  std::erase_if(tables, [](const ResultTable& table) { return table.rows.empty(); });
  return tables;
}

std::vector<std::string> howItComparesLines(const RunRecord& record) {
  const std::string rate = metricText("images_per_s", record, nullptr);
  std::vector<std::string> ceilings, lines;
  for (const std::string& text : {ceilingText(record, "flop_ceiling", "flop_ceiling_percent",
                                              concat("FLOPs (", fixed(record.flopsPeak / 1e9, 1), " GFLOP/s)")),
                                  ceilingText(record, "byte_ceiling", "byte_ceiling_percent",
                                              concat("bytes (", fixed(record.bytesPeak / 1e9, 1), " GB/s)"))}) {
    if (!text.empty()) ceilings.push_back(text);
  }
  if (!ceilings.empty()) lines.push_back(concat(rate, " images/s = ", join(ceilings, ", and ")));
  if (const auto match = nearestPublished().of(record)) {
    lines.push_back(concat(rate, " images/s = ", fixed(match->percent, 1), " % of ", rateText(*match), " (",
                           sourceText(match->figure), ")",
                           match->differences.empty() ? "" : "; differs: " + join(match->differences)));
  }
  return lines;
}

}  // namespace tandem
