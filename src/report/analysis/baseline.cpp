#include "report/analysis/baseline.h"

#include <algorithm>
#include <array>

#include "base/text.h"
#include "config/device_set.h"

namespace tandem {
namespace {

constexpr std::array<std::string_view, 4> mayDiffer{"ranks", "replicas", "devices", "split"};

std::string_view firstDevice(std::string_view devices) { return devices.substr(0, devices.find('+')); }

bool isOneReplica(const RunGroup& group) { return totalReplicas(group.typical().config) == 1; }

std::string keyOf(const RunGroup& group) {
  const RunRecord& run = group.typical();
  return concat(optionsKey(run, mayDiffer), run.placement.threadsPerReplica, ' ',
                firstDevice(run.config.placement.devices));
}

}  // namespace

Baselines::Baselines(std::span<const RunGroup> groups) {
  for (const RunGroup& group : groups) {
    if (isOneReplica(group) && group.typical().outcome.kind == OutcomeKind::ok) known_.emplace(keyOf(group), &group);
  }
}

const RunGroup* Baselines::of(const RunGroup& group) const {
  if (isOneReplica(group)) return &group;
  const auto found = known_.find(keyOf(group));
  return found == known_.end() ? nullptr : found->second;
}

const RunRecord* Baselines::of(const RunGroup& group, const RunRecord& run) const {
  const RunGroup* baseline = of(group);
  if (baseline == &group) return &run;
  if (baseline == nullptr || baseline->counted.empty() || baseline->typical().profile) return nullptr;
  const auto sameRound = std::ranges::find_if(baseline->counted, [&](const RunRecord* other) {
    return run.round > 0 && other->round == run.round && other->sweep == run.sweep;
  });
  return sameRound != baseline->counted.end() ? *sameRound : &baseline->typical();
}

std::vector<const RunRecord*> baselinesOf(std::span<const RunRecord> records) {
  const auto groups = groupsOf(records);
  const Baselines baselines(groups);
  std::vector<const RunRecord*> found(records.size());
  for (const RunGroup& group : groups) {
    for (const RunRecord* run : group.runs)
      found[static_cast<size_t>(run - records.data())] = baselines.of(group, *run);
  }
  return found;
}

}  // namespace tandem
