#include <ATen/ATen.h>

#include "comm/local/algorithms.h"
#include "comm/local/local_reduce.h"

namespace tandem {
namespace {

constexpr int reduced = 2, copied = 3;

void reduceOwnPart(const Round& round) {
  std::vector<at::Tensor> sources;
  for (int peer = 0; peer < round.replicas(); ++peer) {
    sources.push_back(partOf(round.tensor(peer), round.replicas(), round.rank()));
  }
  sumFromPeers(partOf(round.own(), round.replicas(), round.rank()), std::move(sources));
}

void copyOtherParts(const Round& round) {
  for (int step = 1; step < round.replicas(); ++step) {
    const int peer = (round.rank() + step) % round.replicas();
    copyFromPeer(partOf(round.own(), round.replicas(), peer), partOf(round.tensor(peer), round.replicas(), peer));
  }
}

}  // namespace

bool advanceShared(Round& round) {
  if (round.phase() == Round::arrived) {
    if (!round.followedAll(Round::arrived)) return false;
    reduceOwnPart(round);
    round.publish(reduced);
  }
  if (round.phase() == reduced) {
    if (!round.followedAll(reduced)) return false;
    copyOtherParts(round);
    round.publish(copied);
  }
  return round.followedAll(copied);
}

}  // namespace tandem
