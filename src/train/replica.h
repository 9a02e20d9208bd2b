#pragma once

#include <memory>

#include "train/replica_set.h"

namespace tandem {

/// What the members of a team share.
struct ReplicaShared {
  const ReplicaSetOptions& options;
  Strategy& strategy;
  BatchFeed& feed;
  OutputPlacement& outputs;
  Monitor& monitor;
  Barrier& barrier;
};

/// Builds replica `index` on the calling thread, which must be bound to its device, and attaches it to the strategy
/// (collective).
std::unique_ptr<ReplicaSet::Member> makeReplica(int index, const ReplicaShared& shared);

}  // namespace tandem
