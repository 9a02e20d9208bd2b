#include <array>
#include <map>

#include "base/statistics.h"
#include "base/text.h"
#include "config/device_set.h"
#include "measure/metrics/metric.h"
#include "report/tables/point_label.h"
#include "report/tables/tables.h"

namespace tandem {
namespace {

constexpr std::string_view devicesOption = "devices";

/// Groups of runs of one replica that differ in nothing but their device.
using SameWork = std::vector<const RunGroup*>;

std::vector<SameWork> worksOf(std::span<const RunGroup> groups) {
  std::vector<SameWork> works;
  std::map<std::string, size_t> known;
  for (const RunGroup& group : groups) {
    if (group.counted.empty() || totalReplicas(group.typical().config) != 1) continue;
    const std::string key = optionsKey(group.typical(), std::array{devicesOption});
    const auto [place, isNew] = known.try_emplace(key, works.size());
    if (isNew) works.emplace_back();
    works[place->second].push_back(&group);
  }
  std::erase_if(works, [](const SameWork& work) { return work.size() < 2; });
  return works;
}

double rateOf(const RunGroup& group) {
  std::vector<double> rates;
  for (const RunRecord* run : group.counted) rates.push_back(metric("images_per_s").of(*run, nullptr).value());
  return median(rates).value();
}

std::vector<const Option*> withoutDevices(std::vector<const Option*> options) {
  std::erase_if(options, [](const Option* option) { return option->name == devicesOption; });
  return options;
}

ResultTable tableOf(const SameWork& work, std::span<const Option* const> differing) {
  ResultTable table{
      {{"device", "", false}, {"images/s", "", true}, {"of the first", "%", true}, {"runs", "", true}}, {}, {}};
  table.title = concat("One device at a time, ", pointLabel(work.front()->typical(), differing));
  table.notes.emplace_back("images/s are medians of the runs that count");
  const double first = rateOf(*work.front());
  for (const RunGroup* group : work) {
    const double rate = rateOf(*group);
    table.rows.push_back({{group->typical().config.placement.devices, fixed(rate, 2), fixed(100 * rate / first, 2),
                           concat(group->counted.size())},
                          ""});
  }
  return table;
}

}  // namespace

std::vector<ResultTable> deviceRateTables(const ReportRuns& runs) {
  const auto differing = withoutDevices(differingOptions(runs.all()));
  std::vector<ResultTable> tables;
  for (const SameWork& work : worksOf(runs.groups())) tables.push_back(tableOf(work, differing));
  return tables;
}

}  // namespace tandem
