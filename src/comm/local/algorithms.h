#pragma once

#include "comm/local/collective_op.h"

namespace tandem {

/// Does what one replica can do now of a collective without waiting; true when its tensor holds the result and nobody
/// reads it any more. Called again and again by every replica until then. Results are bit-equal on all replicas.
using Advance = bool (*)(CollectiveOp&);

/// Each replica owns one part (cache-line borders), sums it from all replicas, and copies the other parts from theirs.
bool advanceDirect(CollectiveOp& round);

/// Replica (sequence mod n) copies the other tensors to its device and sums them; everybody copies the result.
bool advanceRootReduce(CollectiveOp& round);

/// Reduce-scatter and all-gather around a ring, n - 1 steps each; every step pulls one part from the left neighbour.
bool advanceRing(CollectiveOp& round);

/// Sums up a binomial tree to replica 0 and copies the result down again.
bool advanceTree(CollectiveOp& round);

/// Everybody copies replica 0's tensor.
bool advanceBroadcast(CollectiveOp& round);

/// Range of part `index` when `count` elements of `elementBytes` are cut into `parts` at cache-line borders; the last
/// parts may be empty.
struct ChunkRange {
  int64_t begin, count;
};
ChunkRange chunkRange(int64_t count, int64_t elementBytes, int parts, int index);
at::Tensor chunkOf(const at::Tensor& tensor, int parts, int index);

}  // namespace tandem
