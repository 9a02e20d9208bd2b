#include <algorithm>
#include <span>
#include <string_view>

#include "base/text.h"
#include "report/tables/tables.h"

namespace tandem {
namespace {

constexpr size_t mostRows = 30;     // in a table
constexpr size_t longestName = 80;  // of a kernel's name, templates included
constexpr double giga = 1e9, mega = 1e6;

std::string shortened(const std::string& name) {
  constexpr std::string_view cut = "...";
  return name.size() <= longestName ? name : concat(name.substr(0, longestName - cut.size()), cut);
}

std::string percent(double share, int decimals) { return fixed(100 * share, decimals) + " %"; }
double shareOf(Nanos part, Nanos whole) { return seconds(part) / seconds(whole); }

/// `amount` per step. Empty for 0.
std::string perStep(double amount, const GpuTimeline& of, double unit) {
  return amount > 0 ? fixed(amount / static_cast<double>(of.steps) / unit, 3) : "";
}

/// "412.3 (41.7 %)" in 10^9 per second. Empty if nothing is known.
std::string achieved(double amount, Nanos time, double peak) {
  if (!(amount > 0) || time <= Nanos{}) return "";
  const double rate = amount / seconds(time);
  return concat(fixed(rate / giga, 1), peak > 0 ? concat(" (", percent(rate / peak, 1), ")") : "");
}

std::vector<std::string> cellsOf(const WorkGroup& group, const GpuTimeline& of, const DeviceProfile& profile) {
  const auto steps = static_cast<double>(of.steps);
  return {fixed(static_cast<double>(group.calls) / steps, 1),
          fixed(1e3 * seconds(group.time) / steps, 3),
          percent(shareOf(group.time, of.wall), 1),
          perStep(group.flops, of, giga),
          perStep(group.bytes, of, mega),
          achieved(group.flops, group.knownTime, profile.flopsPeak),
          achieved(group.bytes, group.knownTime, profile.bytesPeak)};
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
ResultTable tableOf(std::vector<TableColumn> labels, const DeviceProfile& profile, std::string title) {
  const char* ofPeak = profile.flopsPeak > 0 || profile.bytesPeak > 0 ? " (of the peak)" : "";
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
  ResultTable table = tableOf({{"kernel", "", false}, {"operations", "", false}}, profile, "Kernels of a step: " + of);
  const std::span kernels(first.kernels);
  const size_t shown = kernels.size() <= mostRows ? kernels.size() : mostRows - 1;
  for (const WorkGroup& kernel : kernels.first(shown)) {
    addRow(table, {shortened(kernel.name), join(kernel.operations)}, cellsOf(kernel, first, profile));
  }
  if (shown < kernels.size()) {
    const WorkGroup others = together(kernels.subspan(shown));
    addRow(table, {others.name, ""}, cellsOf(others, first, profile));
  }
  for (const GpuTimeline& device : profile.devices) table.notes.push_back(deviceText(device));
  table.notes.push_back(peaksText(profile));
  table.notes.emplace_back(
      "tracing takes time itself, between kernels above all: steps without it are shorter, and less idle");
  if (profile.lost > 0) table.notes.push_back(concat(profile.lost, " activities of the devices were lost"));
  return table;
}

ResultTable operationTable(const DeviceProfile& profile, const std::string& of) {
  const GpuTimeline& first = profile.devices.front();
  ResultTable table = tableOf({{"operation", "", false}}, profile, "Operations of a step: " + of);
  for (const WorkGroup& group : first.operations) {
    addRow(table, {group.name.empty() ? "none of the plan, or not known" : group.name}, cellsOf(group, first, profile));
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

}  // namespace

std::vector<ResultTable> kernelTables(const DeviceProfile& profile, const std::string& of) {
  if (profile.devices.empty()) return {};
  return {kernelTable(profile, of), operationTable(profile, of), gapTable(profile.devices.front(), of)};
}

}  // namespace tandem
