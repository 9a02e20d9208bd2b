#pragma once

#include <vector>

#include "device/device.h"

namespace tandem {

/// The replicas of a process in groups, for an all-reduce in two levels: within a group, then between groups.
///
/// A tensor is cut into as many chunks as the largest group has members. In each group one member owns each chunk; a
/// member of a smaller group may own several. The owners of a chunk in all groups are partners.
class ReplicaGroups {
 public:
  /// `groupOf`: a number for each replica, equal for those of one group. Groups count from 0 in the order of their
  /// first replicas.
  explicit ReplicaGroups(const std::vector<int>& groupOf);

  int count() const { return static_cast<int>(members_.size()); }
  int chunks() const { return chunks_; }
  int groupOf(int replica) const { return groupOf_.at(static_cast<size_t>(replica)); }
  /// In ascending order.
  const std::vector<int>& members(int group) const { return members_.at(static_cast<size_t>(group)); }
  int owner(int group, int chunk) const;
  const std::vector<int>& chunksOf(int replica) const { return chunksOf_.at(static_cast<size_t>(replica)); }
  /// All partners of a replica, itself included, each once.
  const std::vector<int>& partnersOf(int replica) const { return partnersOf_.at(static_cast<size_t>(replica)); }

 private:
  std::vector<int> groupOf_;
  std::vector<std::vector<int>> members_, chunksOf_, partnersOf_;
  int chunks_ = 0;
};

/// The groups of replicas that are near to one another: those of a NUMA node; on a single node those of a cache; else,
/// and on GPUs, the first and the second half. One that would hold all replicas, or one each, is no grouping.
ReplicaGroups nearbyReplicas(const std::vector<const Device*>& devices);

}  // namespace tandem
