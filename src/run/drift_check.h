#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "train/replica_set.h"

namespace tandem {

/// Compares the weights of all replicas of all ranks, which must be equal to the bit. All members call it. A rank that
/// only serves has none to compare, and takes part.
class DriftCheck {
 public:
  /// `world`: of the ranks; null: there is this one. It outlives this object.
  DriftCheck(World* world, int64_t replicas, bool servesAlone)
      : world_(world), servesAlone_(servesAlone), hashes_(static_cast<size_t>(replicas)) {}

  enum class Values { weights, masters };

  /// Collective, on each member's thread. `step`: number of the last step, from 0, warm-up included. Throws
  /// InternalError that names the replica, its rank and host, the step and the first parameter that differs.
  void compare(ReplicaSet::Member& member, int64_t step, Values values);

  int64_t times() const { return times_; }

 private:
  using Hashes = std::vector<uint64_t>;  // one a parameter

  void compareReplicas(const FlatBuffers& buffers, int64_t step) const;
  void compareRanks(const FlatBuffers& buffers, int64_t step) const;
  [[noreturn]] void fail(const FlatBuffers& buffers, const std::string& which, const Hashes& its, int64_t step) const;

  World* const world_;
  const bool servesAlone_;
  std::vector<Hashes> hashes_;  // by replica; each writes its own before a barrier
  int64_t times_ = 0;           // written by member 0
};

}  // namespace tandem
