#include <ATen/ATen.h>

#include "comm/local/algorithms.h"
#include "comm/local/local_reduce.h"

namespace tandem {
namespace {

constexpr int summed = 2, copied = 3;

bool advanceRoot(Round& round) {
  if (round.phase() == Round::arrived) {
    if (!round.followedAll(Round::arrived)) return false;
    std::vector<at::Tensor> sources;
    for (int peer = 0; peer < round.replicas(); ++peer) sources.push_back(round.tensor(peer));
    sumFromPeers(round.own(), std::move(sources));
    round.publish(summed);
    round.publish(copied);
  }
  return round.followedAll(copied);
}

}  // namespace

bool advanceCopy(Round& round) {
  const int root = static_cast<int>(round.sequence() % round.replicas());
  if (round.rank() == root) return advanceRoot(round);
  if (!round.followed(root, summed)) return false;
  copyFromPeer(round.own(), round.tensor(root));
  round.publish(copied);
  return true;
}

}  // namespace tandem
