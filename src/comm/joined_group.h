#pragma once

#include <memory>
#include <vector>

#include "comm/group.h"
#include "comm/world.h"

namespace tandem {

/// Handles of a group of all replicas of all processes, one for each replica of this process, from `local`, which are
/// those of this process alone. With a null world: `local` itself. All ranks have as many replicas.
///
/// An operation runs between the replicas of equal index on all ranks first, then in the process. So the parts of a
/// gather are ordered by replica, then by rank: joinedPlace(). World and monitor outlive the handles.
std::vector<std::unique_ptr<Group>> joinRanks(std::vector<std::unique_ptr<Group>> local, World* world,
                                              Monitor& monitor);

/// The number of replicas of all processes, and the place of this process's `replica` among them in a gather.
struct JoinedPlace {
  int64_t size = 1, index = 0;
};
JoinedPlace joinedPlace(int replica, int replicas, const World* world);

}  // namespace tandem
