#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "comm/group.h"
#include "comm/local/algorithms.h"
#include "comm/local/thread_group.h"
#include "comm/world.h"

namespace tandem {

/// How sums of some sizes begin in a process: each replica's slices of the tensor get the process's sum. Without a
/// group nothing is summed there before the tensor goes between ranks.
struct FirstSum {
  std::unique_ptr<ThreadGroup> group;
  const SlicedSum* halves = nullptr;
};

/// What one replica's handle of a group of all replicas of all processes is made of.
struct JoinedParts {
  std::vector<FirstSum> first;         ///< by size, as in AllReduceBySize
  std::vector<int64_t> upTo;           ///< likewise
  std::unique_ptr<RankGroup> between;  ///< with the replicas of its number on the other ranks
  std::unique_ptr<Group> last;         ///< of this process: sums end there, and so do all other operations
  int replica = 0, replicas = 1;       ///< its number in the process, and how many there are; all ranks have as many
};

/// An operation runs between ranks, then in the process; the parts of a gather are so ordered by replica, then by rank:
/// joinedPlace(). A sum of slices (SlicedSum) runs in the process before too. The order between ranks is that in which
/// operations were started, on all ranks. World and monitor outlive the handle.
std::unique_ptr<Group> joinRanks(JoinedParts parts, Monitor& monitor);

/// The number of replicas of all processes, and the place of this process's `replica` among them in a gather.
struct JoinedPlace {
  int64_t size = 1, index = 0;
};
JoinedPlace joinedPlace(int replica, int replicas, const World* world);

}  // namespace tandem
