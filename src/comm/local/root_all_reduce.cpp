#include <ATen/ATen.h>

#include "comm/local/algorithms.h"
#include "comm/local/local_reduce.h"

namespace tandem {
namespace {

// The root of an operation is a different replica for each bucket, so the work is spread over all.
constexpr int summed = 2, copied = 3;

bool advanceRoot(CollectiveOp& round) {
  if (round.phase() == CollectiveOp::arrived) {
    if (!round.waitedForAll(CollectiveOp::arrived)) return false;
    std::vector<at::Tensor> sources;
    for (int peer = 0; peer < round.replicas(); ++peer) sources.push_back(round.tensor(peer));
    sumFromPeers(round.own(), std::move(sources));
    round.publish(summed);
    round.publish(copied);
  }
  return round.waitedForAll(copied);
}

}  // namespace

bool advanceRootReduce(CollectiveOp& round) {
  const int root = static_cast<int>(round.sequence() % round.replicas());
  if (round.replica() == root) return advanceRoot(round);
  if (!round.waitedFor(root, summed)) return false;
  copyFromPeer(round.own(), round.tensor(root));
  round.publish(copied);
  return true;
}

}  // namespace tandem
