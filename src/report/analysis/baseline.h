#pragma once

#include <map>
#include <span>
#include <string>
#include <vector>

#include "report/analysis/run_groups.h"

namespace tandem {

/// The 1-replica groups that speed-ups are relative to. A baseline agrees with the runs compared with it in machine,
/// build, threads per replica and every axis option but replicas. Of the device set, only the first device must agree.
class Baselines {
 public:
  /// REQUIRES: `groups` outlives this.
  explicit Baselines(std::span<const RunGroup> groups);

  /// The group that `group` is compared with, or null. A 1-replica group is its own baseline.
  const RunGroup* of(const RunGroup& group) const;

  /// The run of of(group) that `run` is compared with: the one of the same round, else the one with the median rate.
  /// Null if none counts. REQUIRES: `run` is in `group`.
  const RunRecord* of(const RunGroup& group, const RunRecord& run) const;

 private:
  std::map<std::string, const RunGroup*> known_;
};

/// The run that each record is compared with, in the order of the records; null: none.
std::vector<const RunRecord*> baselinesOf(std::span<const RunRecord> records);

}  // namespace tandem
