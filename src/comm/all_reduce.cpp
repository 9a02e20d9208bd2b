#include <ATen/ATen.h>

#include <bit>

#include "base/error.h"
#include "comm/all_reduce_by_size.h"
#include "comm/group.h"
#include "comm/local/algorithms.h"
#include "comm/nccl/nccl_group.h"
#include "device/flat_buffers.h"

namespace tandem {
namespace {

// Per replica; a mean if replicas differ. In most algorithms the n replicas together receive 2 (n - 1) tensors. That is
// the least that an all-reduce by point-to-point copies can move.
//
// - owner, shared, ring: a replica receives its chunk, 1 / n of the tensor, from n - 1 peers, then n - 1 finished
// chunks.
//   With owner the finished chunks are weights, as wide as gradients, and a replica receives them when it reads them.
// - copy: the root receives n - 1 tensors, the n - 1 others one each. The root rotates from bucket to bucket.
// - tree: one tensor moves up and one down each of the n - 1 edges. Replica 0 alone receives ceil(log2 n) of them.
// - hierarchical, g groups of m replicas: m - 1 chunks of 1 / m from the group, g - 1 parts of a chunk, 1 / (g m), from
//   partners, and the same back.
double received(double bytes, int n) { return 2.0 * (n - 1) / n * bytes; }

double messagesOfParts(int n, int) { return 2.0 * (n - 1); }
double messagesOfTensors(int n, int) { return 2.0 * (n - 1) / n; }

double hierarchicalMessages(int n, int groups) {
  const double chunks = (n + groups - 1) / groups;  // members of the largest group, if groups are as equal as can be
  return 2 * chunks * ((n - groups) + groups * (groups - 1)) / n;
}

/// A power of two of replicas, the core, and those beyond it. A pair of one of each receives 3 / 2 tensors in three
/// messages before the core's steps, and a tensor in one message behind them.
struct HalvingDoubling {
  double core, pairs, steps;
};
HalvingDoubling halvingDoubling(int n) {
  const auto core = std::bit_floor(static_cast<unsigned>(n));
  return {static_cast<double>(core), static_cast<double>(static_cast<unsigned>(n) - core),
          static_cast<double>(std::countr_zero(core))};
}
double halvingDoublingReceived(double bytes, int n) {
  const HalvingDoubling of = halvingDoubling(n);
  return (2 * (of.core - 1) + 2.5 * of.pairs) / n * bytes;
}
double halvingDoublingMessages(int n, int) {
  const HalvingDoubling of = halvingDoubling(n);
  return (2 * of.core * of.steps + 4 * of.pairs) / n;
}

// The first that runs on a device is what "auto" means there.
constexpr AllReduceEntry table[] = {
    {.name = "owner",
     .summary = "each replica sums its part from all replicas' memory and updates its weights, which replicas share",
     .onCpu = true,
     .ownersUpdate = true,
     .receivedBytes = received,
     .messages = messagesOfParts,
     .sum = advanceDirect},
    {.name = "nccl",
     .summary = "NVIDIA's NCCL, one GPU per replica",
     .onCuda = true,
     .enqueuesOnly = true,
     .receivedBytes = received,
     .messages = messagesOfParts,
     .makeSpanning = makeNcclGroups},
    {.name = "shared",
     .summary = "each replica sums its part of the tensor from all replicas' memory, then copies the other parts",
     .onCpu = true,
     .onCuda = true,
     .receivedBytes = received,
     .messages = messagesOfParts,
     .sum = advanceDirect},
    {.name = "copy",
     .summary = "one replica (the next one for each bucket) copies all tensors to its device and sums; all copy the "
                "result",
     .onCpu = true,
     .onCuda = true,
     .receivedBytes = received,
     .messages = messagesOfTensors,
     .sum = advanceRootReduce},
    {.name = "ring",
     .summary = "reduce-scatter and all-gather around a ring",
     .onCpu = true,
     .onCuda = true,
     .receivedBytes = received,
     .messages = messagesOfParts,
     .sum = advanceRing},
    {.name = "tree",
     .summary = "summed up a binomial tree to replica 0, copied down again",
     .onCpu = true,
     .onCuda = true,
     .receivedBytes = received,
     .messages = messagesOfTensors,
     .sum = advanceTree},
    {.name = "halving_doubling",
     .summary =
         "each replica exchanges with partners at distances 1, 2, 4, ...: ever smaller parts that are summed, then "
         "ever larger ones of the result",
     .onCpu = true,
     .onCuda = true,
     .receivedBytes = halvingDoublingReceived,
     .messages = halvingDoublingMessages,
     .sum = advanceHalvingDoubling},
    {.name = "hierarchical",
     .summary =
         "summed within groups of near replicas (of a NUMA node, of a cache, or halves), then between the groups "
         "and the processes; copied back",
     .onCpu = true,
     .onCuda = true,
     .receivedBytes = received,
     .messages = hierarchicalMessages,
     .sum = advanceHierarchical,
     .halves = &hierarchicalHalves},
};

}  // namespace

std::span<const AllReduceEntry> allReduces() { return table; }

BetweenRanks AllReduceEntry::betweenRanks() const {
  if (spansRanks()) return BetweenRanks::itself;
  return halves != nullptr || ownersUpdate ? BetweenRanks::slices : BetweenRanks::whole;
}

AllReduceEntry::Groups AllReduceEntry::make(const GroupOptions& options) const {
  return AllReduceBySize(this).make(options);
}

at::Tensor partOf(const at::Tensor& gathered, int64_t parts, int64_t index) {
  check(gathered.dim() == 1 && gathered.numel() % parts == 0, "a tensor is gathered in equal parts");
  const int64_t count = gathered.numel() / parts;
  return gathered.narrow(0, index * count, count);
}

void broadcastParameters(Group& group, FlatBuffers& buffers) {
  for (int segment = 0; segment < buffers.segments(); ++segment) {
    group.wait(group.start(buffers.master(buffers.whole(segment)), Collective::broadcast));
  }
  buffers.refreshWeights();
}

}  // namespace tandem
