#include <algorithm>

#include "config/option.h"
#include "measure/metrics/metric.h"

namespace tandem {
namespace {

std::string_view firstDevice(std::string_view devices) { return devices.substr(0, devices.find('+')); }

bool mayDiffer(const Option& option) { return !option.isAxis() || option.name == "replicas" || option.name == "devices"; }

bool eligible(const RunRecord& record) {
  return record.config.placement.replicas == 1 && record.outcome.kind == OutcomeKind::ok;
}

/// A key that is equal for records that may be compared, and different for others. The length of each part precedes it,
/// so that no two lists of parts join to the same text.
std::string comparableBy(const RunRecord& record) {
  std::string key;
  const auto add = [&](std::string_view part) { key.append(std::to_string(part.size())).append(1, ':').append(part); };
  add(record.environment.host);
  add(std::to_string(record.placement.threadsPerReplica));
  add(firstDevice(record.config.placement.devices));
  for (const Option& option : options()) {
    if (!mayDiffer(option)) add(valueText(record.config, option));
  }
  return key;
}

}  // namespace

Baselines::Baselines(std::span<const RunRecord> records) : records_(records) {
  for (const RunRecord& record : records) {
    if (eligible(record)) last_[comparableBy(record)] = &record;
  }
}

const RunRecord* Baselines::of(const RunRecord& record) const {
  const auto same = [&](const RunRecord& known) { return &known == &record; };
  if (eligible(record) && std::ranges::any_of(records_, same)) return &record;
  const auto found = last_.find(comparableBy(record));
  return found == last_.end() ? nullptr : found->second;
}

}  // namespace tandem
