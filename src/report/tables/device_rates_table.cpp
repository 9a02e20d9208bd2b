#include <map>

#include "base/statistics.h"
#include "base/text.h"
#include "config/option.h"
#include "measure/metrics/metric.h"
#include "report/tables/point_label.h"
#include "report/tables/tables.h"

namespace tandem {
namespace {

constexpr std::string_view devicesOption = "devices";

/// What was measured on one device after the other: a rate for each run, by device in the order of the runs.
struct SameWork {
  const RunRecord* first;
  std::vector<std::string> devices;
  std::map<std::string, std::vector<double>> rates;
};

/// A key that is equal for runs that differ in nothing but their device.
std::string workOf(const RunRecord& record) {
  std::vector<std::string> parts{record.environment.host};
  for (const Option& option : options()) {
    if (option.isAxis() && option.name != devicesOption) parts.push_back(valueText(record.config, option));
  }
  return join(parts, "\n");
}

std::vector<SameWork> worksOf(std::span<const RunRecord> records) {
  std::vector<SameWork> works;
  std::map<std::string, size_t> known;
  for (const RunRecord& record : records) {
    const auto rate = metric("images_per_s").of(record, nullptr);
    if (!rate || record.config.placement.replicas != 1 || !rateCaveats(record).empty()) continue;
    const auto [place, isNew] = known.try_emplace(workOf(record), works.size());
    if (isNew) works.push_back({&record, {}, {}});
    SameWork& work = works[place->second];
    const std::string& device = record.config.placement.devices;
    if (!work.rates.contains(device)) work.devices.push_back(device);
    work.rates[device].push_back(*rate);
  }
  std::erase_if(works, [](const SameWork& work) { return work.devices.size() < 2; });
  return works;
}

std::vector<const Option*> withoutDevices(std::vector<const Option*> options) {
  std::erase_if(options, [](const Option* option) { return option->name == devicesOption; });
  return options;
}

}  // namespace

std::vector<ResultTable> deviceRateTables(const ReportRuns& runs) {
  const auto differing = withoutDevices(differingOptions(runs.all()));
  std::vector<ResultTable> tables;
  for (const SameWork& work : worksOf(runs.all())) {
    ResultTable table{
        {{"device", "", false}, {"images/s", "", true}, {"of the first", "%", true}, {"runs", "", true}}, {}, {}};
    table.title = concat("One device at a time, ", pointLabel(*work.first, differing));
    const double first = median(work.rates.at(work.devices.front())).value();
    for (const std::string& device : work.devices) {
      const auto& rates = work.rates.at(device);
      const double rate = median(rates).value();
      table.rows.push_back({{device, fixed(rate, 2), fixed(100 * rate / first, 2), concat(rates.size())}, ""});
    }
    table.notes.push_back("images/s are medians of the runs without a caveat");
    tables.push_back(std::move(table));
  }
  return tables;
}

}  // namespace tandem
