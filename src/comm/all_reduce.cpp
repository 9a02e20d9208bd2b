#include <ATen/ATen.h>

#include "base/error.h"
#include "comm/group.h"
#include "comm/local/algorithms.h"
#include "comm/local/thread_group.h"
#include "comm/nccl/nccl_group.h"
#include "device/flat_buffers.h"

namespace tandem {
namespace {

template <Advance sum>
std::vector<std::unique_ptr<Group>> threads(const GroupOptions& options) {
  return makeThreadGroups(options, sum);
}

// Per replica; a mean if replicas differ. In each algorithm the n replicas together receive 2 (n - 1) tensors. That is
// the least that an all-reduce by point-to-point copies can move.
//
// - owner, shared, ring: a replica receives its chunk, 1 / n of the tensor, from n - 1 peers, then n - 1 finished
// chunks.
//   With owner the finished chunks are weights, as wide as gradients, and a replica receives them when it reads them.
// - copy: the root receives n - 1 tensors, the n - 1 others one each. The root rotates from bucket to bucket.
// - tree: one tensor moves up and one down each of the n - 1 edges. Replica 0 alone receives ceil(log2 n) of them.
double received(double bytes, int n) { return 2.0 * (n - 1) / n * bytes; }

double messagesOfParts(int n) { return 2.0 * (n - 1); }
double messagesOfTensors(int n) { return 2.0 * (n - 1) / n; }

// The first that runs on a device is what "auto" means there.
constexpr AllReduceEntry table[] = {
    {"owner", "each replica sums its part from all replicas' memory and updates its weights, which replicas share",
     true, false, false, true, false, received, messagesOfParts, threads<advanceDirect>},
    {"nccl", "NVIDIA's NCCL, one GPU per replica", false, true, true, false, true, received, messagesOfParts,
     makeNcclGroups},
    {"shared", "each replica sums its part of the tensor from all replicas' memory, then copies the other parts", true,
     true, false, false, false, received, messagesOfParts, threads<advanceDirect>},
    {"copy",
     "one replica (the next one for each bucket) copies all tensors to its device and sums; all copy the result", true,
     true, false, false, false, received, messagesOfTensors, threads<advanceRootReduce>},
    {"ring", "reduce-scatter and all-gather around a ring", true, true, false, false, false, received, messagesOfParts,
     threads<advanceRing>},
    {"tree", "summed up a binomial tree to replica 0, copied down again", true, true, false, false, false, received,
     messagesOfTensors, threads<advanceTree>},
};

}  // namespace

std::span<const AllReduceEntry> allReduces() { return table; }

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
