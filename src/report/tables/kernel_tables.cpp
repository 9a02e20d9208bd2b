#include <algorithm>
#include <map>
#include <span>
#include <string_view>

#include "base/text.h"
#include "measure/profile/attribution.h"
#include "report/tables/tables.h"

namespace tandem {
namespace {

constexpr size_t mostRows = 30;     // of kernels
constexpr size_t mostCalls = 10;    // of a plan
constexpr size_t longestName = 80;  // of a kernel's name, templates included
constexpr double giga = 1e9, mega = 1e6;

std::string shortened(const std::string& name) {
  constexpr std::string_view cut = "...";
  return name.size() <= longestName ? name : concat(name.substr(0, longestName - cut.size()), cut);
}

std::string percent(double share, int decimals) { return fixed(100 * share, decimals) + " %"; }
double shareOf(Nanos part, Nanos whole) { return seconds(part) / seconds(whole); }

/// What work is compared with.
struct Measure {
  int64_t steps = 0;
  Nanos wall{};                         // of these steps
  double flopsPeak = 0, bytesPeak = 0;  // per second; 0: not known
};

Measure measureOf(const GpuTimeline& steps, const DeviceProfile& profile) {
  return {steps.steps, steps.wall, profile.flopsPeak, profile.bytesPeak};
}

/// `amount` per step. Empty for 0.
std::string perStep(double amount, const Measure& of, double unit) {
  return amount > 0 ? fixed(amount / static_cast<double>(of.steps) / unit, 3) : "";
}

/// "412.3 (41.7 %)" in 10^9 per second. Empty if nothing is known.
std::string achieved(double amount, Nanos time, double peak) {
  if (!(amount > 0) || time <= Nanos{}) return "";
  const double rate = amount / seconds(time);
  return concat(fixed(rate / giga, 1), peak > 0 ? concat(" (", percent(rate / peak, 1), ")") : "");
}

std::vector<std::string> cellsOf(const WorkGroup& group, const Measure& of) {
  const auto steps = static_cast<double>(of.steps);
  return {fixed(static_cast<double>(group.calls) / steps, 1),
          fixed(1e3 * seconds(group.time) / steps, 3),
          percent(shareOf(group.time, of.wall), 1),
          perStep(group.flops, of, giga),
          perStep(group.bytes, of, mega),
          achieved(group.flops, group.knownTime, of.flopsPeak),
          achieved(group.bytes, group.knownTime, of.bytesPeak)};
}

/// The sum of all groups.
WorkGroup together(std::span<const WorkGroup> groups) {
  WorkGroup sum{.name = concat(groups.size(), " others")};
  for (const WorkGroup& group : groups) {
    sum.calls += group.calls;
    sum.time += group.time, sum.knownTime += group.knownTime;
    sum.flops += group.flops, sum.bytes += group.bytes;
  }
  return sum;
}

void addRow(ResultTable& table, std::vector<std::string> labels, const std::vector<std::string>& cells) {
  labels.insert(labels.end(), cells.begin(), cells.end());
  table.rows.push_back({std::move(labels), ""});
}

/// A table with the label columns and those of cellsOf().
ResultTable tableOf(std::vector<TableColumn> labels, const Measure& of, std::string title) {
  const char* ofPeak = of.flopsPeak > 0 || of.bytesPeak > 0 ? " (of the peak)" : "";
  ResultTable table{std::move(labels), {}, {}, std::move(title)};
  table.labels = table.columns.size();
  table.columns.insert(table.columns.end(), {{"calls per step", "", true},
                                             {"time", "ms", true},
                                             {"of the step", "", true},
                                             {"work", "GFLOP", true},
                                             {"moved", "MB", true},
                                             {concat("GFLOP/s", ofPeak), "", true},
                                             {concat("GB/s", ofPeak), "", true}});
  return table;
}

/// Adds rows of the first `most` groups; the last row is the sum of those that are left.
void addRows(ResultTable& table, std::span<const WorkGroup> groups, size_t most, const Measure& of) {
  const size_t shown = groups.size() <= most ? groups.size() : most - 1;
  for (const WorkGroup& group : groups.first(shown)) {
    addRow(table, {shortened(group.name), join(group.operations)}, cellsOf(group, of));
  }
  if (shown == groups.size()) return;
  const WorkGroup others = together(groups.subspan(shown));
  addRow(table, {others.name, ""}, cellsOf(others, of));
}

std::string deviceText(const GpuTimeline& of) {
  return concat("cuda:", of.device, ": ", of.steps, " steps of ",
                fixed(1e3 * seconds(of.wall) / static_cast<double>(of.steps), 3), " ms, idle ",
                percent(shareOf(of.idle(), of.wall), 2));
}

std::string peaksText(const DeviceProfile& profile) {
  if (!(profile.flopsPeak > 0) && !(profile.bytesPeak > 0)) return "the peaks of this device are not known";
  const auto text = [](double peak, const char* unit) {
    return peak > 0 ? concat(fixed(peak / giga, 0), " G", unit, "/s") : concat("unknown ", unit, "/s");
  };
  return concat("the peaks, as stated for its highest clocks: ", text(profile.flopsPeak, "FLOP"), ", ",
                text(profile.bytesPeak, "B"));
}

ResultTable kernelTable(const DeviceProfile& profile, const std::string& of) {
  const GpuTimeline& first = profile.devices.front();
  const Measure measure = measureOf(first, profile);
  ResultTable table = tableOf({{"kernel", "", false}, {"operations", "", false}}, measure, "Kernels of a step: " + of);
  addRows(table, first.kernels, mostRows, measure);
  for (const GpuTimeline& device : profile.devices) table.notes.push_back(deviceText(device));
  table.notes.push_back(peaksText(profile));
  table.notes.emplace_back(
      "tracing takes time itself, between kernels above all: steps without it are shorter, and less idle");
  if (profile.lost > 0) table.notes.push_back(concat(profile.lost, " activities of the devices were lost"));
  return table;
}

ResultTable operationTable(std::span<const WorkGroup> operations, const Measure& measure, const std::string& of) {
  ResultTable table = tableOf({{"operation", "", false}}, measure, "Operations of a step: " + of);
  for (const WorkGroup& group : operations) {
    addRow(table, {group.name.empty() ? "none of the plan, or not known" : group.name}, cellsOf(group, measure));
  }
  return table;
}

ResultTable gapTable(const GpuTimeline& steps, const std::string& of) {
  ResultTable table{{{"idle after", "", false},
                     {"until", "", false},
                     {"times per step", "", true},
                     {"time", "us", true},
                     {"longest", "us", true},
                     {"of the step", "", true}},
                    {},
                    {},
                    "Gaps of a step: " + of,
                    2};
  for (const DeviceGap& gap : steps.gaps) {
    const auto number = static_cast<double>(steps.steps);
    table.rows.push_back(
        {{shortened(gap.after), shortened(gap.before), fixed(static_cast<double>(gap.count) / number, 1),
          fixed(1e6 * seconds(gap.total) / number, 1), fixed(1e6 * seconds(gap.longest), 1),
          percent(shareOf(gap.total, steps.wall), 2)},
         ""});
  }
  if (table.rows.empty()) table.notes.emplace_back("none: some kernel or copy always runs");
  return table;
}

std::vector<WorkGroup> longestFirst(std::vector<WorkGroup> groups) {
  std::ranges::stable_sort(groups, std::ranges::greater{}, &WorkGroup::time);
  return groups;
}

/// The calls by their kinds of operation, the longest first.
std::vector<WorkGroup> operationsOf(const HostTimeline& host) {
  std::map<std::string, std::vector<WorkGroup>> callsOf;
  for (const WorkGroup& call : host.calls) callsOf[call.operations.front()].push_back(call);
  std::vector<WorkGroup> operations;
  for (const auto& [name, calls] : callsOf) operations.emplace_back(together(calls)).name = name;
  return longestFirst(std::move(operations));
}

}  // namespace

std::vector<ResultTable> callTables(const RunRecord& record, const std::string& of) {
  const HostTimeline& host = *record.profile->host;
  const ReplicaPeaks peaks = peaksOfReplica(record);
  const Measure measure{host.steps, host.wall, peaks.flops, peaks.bytes};
  ResultTable calls =
      tableOf({{"call", "", false}, {"operation", "", false}}, measure, "Longest calls of a step: " + of);
  addRows(calls, longestFirst(host.calls), mostCalls, measure);
  if (measure.flopsPeak > 0 || measure.bytesPeak > 0) {
    calls.notes.emplace_back(
        "the peaks are a replica's share of what was measured; caches may serve bytes faster than memory, and "
        "Winograd's convolutions need fewer operations than are counted");
  }
  return {calls, operationTable(operationsOf(host), measure, of)};
}

std::vector<ResultTable> kernelTables(const DeviceProfile& profile, const std::string& of) {
  if (profile.devices.empty()) return {};
  const GpuTimeline& first = profile.devices.front();
  return {kernelTable(profile, of), operationTable(first.operations, measureOf(first, profile), of),
          gapTable(first, of)};
}

}  // namespace tandem
