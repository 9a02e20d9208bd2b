#include <ATen/ATen.h>

#include "comm/local/algorithms.h"
#include "comm/local/local_reduce.h"

namespace tandem {
namespace {

constexpr int reduced = 2, copied = 3;

// Sums in the order of ranks on every replica, so the result does not depend on who owns a chunk.
void reduceOwnPart(const CollectiveOp& round) {
  std::vector<at::Tensor> sources;
  for (int peer = 0; peer < round.replicas(); ++peer) {
    sources.push_back(chunkOf(round.tensor(peer), round.replicas(), round.replica()));
  }
  sumFromPeers(chunkOf(round.own(), round.replicas(), round.replica()), std::move(sources));
}

// Every replica starts with another peer, so that they do not all read the same memory at once.
void copyOtherParts(const CollectiveOp& round) {
  for (int step = 1; step < round.replicas(); ++step) {
    const int peer = (round.replica() + step) % round.replicas();
    copyFromPeer(chunkOf(round.own(), round.replicas(), peer), chunkOf(round.tensor(peer), round.replicas(), peer));
  }
}

}  // namespace

// The last wait keeps this tensor untouched until all peers have copied this replica's chunk.
bool advanceDirect(CollectiveOp& round) {
  if (round.phase() == CollectiveOp::arrived) {
    if (!round.waitedForAll(CollectiveOp::arrived)) return false;
    reduceOwnPart(round);
    round.publish(reduced);
  }
  if (round.phase() == reduced) {
    if (!round.waitedForAll(reduced)) return false;
    copyOtherParts(round);
    round.publish(copied);
  }
  return round.waitedForAll(copied);
}

}  // namespace tandem
