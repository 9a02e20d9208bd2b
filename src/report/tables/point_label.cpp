#include "report/tables/point_label.h"

#include <algorithm>

#include "base/text.h"
#include "measure/metrics/metric.h"

namespace tandem {

std::vector<const Option*> differingOptions(std::span<const RunRecord> records) {
  std::vector<const Option*> differing;
  for (const Option& option : options()) {
    const bool differs = option.isAxis() && std::ranges::any_of(records, [&](const RunRecord& record) {
                           return valueText(record.config, option) != valueText(records.front().config, option);
                         });
    if (differs || option.name == "replicas") differing.push_back(&option);
  }
  return differing;
}

std::string pointLabel(const RunRecord& record, std::span<const Option* const> differing) {
  std::vector<std::string> parts;
  for (const Option* option : differing) {
    parts.push_back(concat(option->name, '=', oneLine(valueText(record.config, *option))));
  }
  return join(parts, " ");
}

std::string sharedOptionsText(std::span<const RunRecord> records) {
  if (records.empty()) return "";
  std::vector<std::string> parts;
  const RunRecord& first = records.front();
  for (const Option& option : options()) {
    const std::string value = valueText(first.config, option);
    const bool shared = std::ranges::all_of(
        records, [&](const RunRecord& record) { return valueText(record.config, option) == value; });
    if (option.isAxis() && shared && value != valueText(Config(), option))
      parts.push_back(concat("--", option.name, '=', oneLine(value)));
  }
  const bool synthetic = std::ranges::all_of(records, [](const RunRecord& record) {
    return record.config.input.data.empty() && record.placement.data != record.config.input.source;
  });
  const std::string shared = parts.empty() ? "every option at its default, or different" : join(parts, " ");
  return concat(shared, synthetic ? ", synthetic images" : "");
}

std::string oneLine(std::string text) {
  std::ranges::replace_if(
      text, [](char c) { return c == '\n' || c == '\r' || c == '\t'; }, ' ');
  return text;
}

std::string metricText(std::string_view name, const RunRecord& record, const RunRecord* baseline) {
  const Metric& row = metric(name);
  const auto value = row.of(record, baseline);
  if (!value) return "";
  return row.decimals == Metric::powerOfTen ? scientific(*value) : fixed(*value, row.decimals);
}

}  // namespace tandem
