#pragma once

#include <memory>

#include "train/replica_set.h"

namespace tandem {

/// What the members of a team share.
struct TeamShared {
  const TeamOptions& options;
  Strategy& strategy;
  LossPlace& lossPlace;
  Monitor& monitor;
  Barrier& barrier;
};

/// Builds replica `index` on the calling thread, which must be bound to its device, and attaches it to the strategy
/// (collective).
std::unique_ptr<Team::Member> makeMember(int index, const TeamShared& shared);

}  // namespace tandem
