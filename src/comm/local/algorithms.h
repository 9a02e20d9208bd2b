#pragma once

#include <vector>

#include "comm/local/collective_op.h"
#include "comm/local/replica_groups.h"

namespace tandem {

/// Advances one replica's part of a collective as far as possible without waiting. Every replica calls it repeatedly
/// until it returns true: the tensor then holds the result, and nobody reads it any more. Results are bit-equal on all
/// replicas.
using Advance = bool (*)(CollectiveOp&);

/// Each replica owns one chunk (cache-line borders), sums it from all replicas, and copies the other chunks from them.
bool advanceDirect(CollectiveOp& round);

/// Replica (sequence mod n) copies the other tensors to its device and sums them; all others copy the result.
bool advanceRootReduce(CollectiveOp& round);

/// Reduce-scatter and all-gather around a ring, n - 1 steps each; every step pulls one chunk from the left neighbour.
bool advanceRing(CollectiveOp& round);

/// Sums up a binomial tree to replica 0, then copies the result down the tree.
bool advanceTree(CollectiveOp& round);

/// Recursive halving and doubling (Rabenseifner 2004, "Optimization of collective reduction operations"): replicas
/// exchange with partners at distances 1, 2, 4, ..., each time half as much and then twice as much again. Replicas
/// beyond a power of two fold their tensors into those of others first, and copy the result in the end.
bool advanceHalvingDoubling(CollectiveOp& round);

/// Sums within groups of replicas that are near to one another, then between the owners of each chunk in all groups,
/// and copies the result the same way back (CollectiveOp::groups()).
bool advanceHierarchical(CollectiveOp& round);

/// The two halves of advanceHierarchical(), for something that happens between them. After the first the slices of each
/// replica hold the sum; the second begins when they hold the result, and gives it to all.
bool advanceHierarchicalScatter(CollectiveOp& round);
bool advanceHierarchicalGather(CollectiveOp& round);
std::vector<at::Tensor> hierarchicalSlices(const ReplicaGroups& groups, int replica, const at::Tensor& tensor);

/// The halves of an algorithm, and the slices of its tensor that a replica sums. The slices of all replicas together
/// are the whole tensor.
struct SlicedSum {
  Advance scatter, gather;
  std::vector<at::Tensor> (*slices)(const ReplicaGroups& groups, int replica, const at::Tensor& tensor);
};
inline constexpr SlicedSum hierarchicalHalves{advanceHierarchicalScatter, advanceHierarchicalGather,
                                              hierarchicalSlices};

/// Every other replica copies replica 0's tensor.
bool advanceBroadcast(CollectiveOp& round);

/// Each replica copies its part from each other replica.
bool advanceGather(CollectiveOp& round);

/// Chunk `index` of `count` elements of `elementBytes` each, cut into `parts` chunks at cache-line borders. The last
/// chunks may be empty.
struct ChunkRange {
  int64_t begin, count;
};
ChunkRange chunkRange(int64_t count, int64_t elementBytes, int parts, int index);
at::Tensor chunkOf(const at::Tensor& tensor, int parts, int index);

}  // namespace tandem
