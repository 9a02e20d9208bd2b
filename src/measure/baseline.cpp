#include <algorithm>

#include "config/option.h"
#include "measure/metric.h"

namespace tandem {
namespace {

std::string_view firstDevice(std::string_view devices) { return devices.substr(0, devices.find('+')); }

bool mayDiffer(const Option& option) { return !option.axis || option.name == "replicas" || option.name == "devices"; }

bool comparable(const RunRecord& record, const RunRecord& candidate) {
  if (record.environment.host != candidate.environment.host) return false;
  if (record.placement.threadsPerReplica != candidate.placement.threadsPerReplica) return false;
  if (firstDevice(record.config.devices) != firstDevice(candidate.config.devices)) return false;
  return std::ranges::all_of(options(), [&](const Option& option) {
    return mayDiffer(option) || valueText(record.config, option) == valueText(candidate.config, option);
  });
}

}  // namespace

const RunRecord* baselineOf(const RunRecord& record, std::span<const RunRecord> records) {
  const RunRecord* last = nullptr;
  for (const RunRecord& candidate : records) {
    const bool eligible = candidate.config.replicas == 1 && candidate.outcome.kind == OutcomeKind::ok;
    if (!eligible || !comparable(record, candidate)) continue;
    if (&candidate == &record) return &candidate;
    last = &candidate;
  }
  return last;
}

}  // namespace tandem
