#pragma once

#include <memory>
#include <vector>

#include "comm/group.h"

namespace tandem {

/// Handles of a group of all replicas of all processes, one for each replica of this process, that sums hierarchically:
/// within the process by groups of replicas, then each replica's slices between the processes, and back. So a value
/// goes between two processes once, by whichever replica owns it. All ranks have as many replicas, in equal groups.
/// Without a world: the same within the process.
///
/// A broadcast and a gather run as in joinRanks(). The world and the monitor outlive the handles.
std::vector<std::unique_ptr<Group>> makeHierarchicalGroups(const GroupOptions& options);

}  // namespace tandem
