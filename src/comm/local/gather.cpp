#include <ATen/ATen.h>

#include "comm/local/algorithms.h"
#include "comm/local/local_reduce.h"

namespace tandem {
namespace {

constexpr int copied = 2;

}  // namespace

// A replica writes the parts of the others only, so these may read its own part meanwhile.
bool advanceGather(CollectiveOp& round) {
  if (round.phase() == CollectiveOp::arrived) {
    if (!round.waitedForAll(CollectiveOp::arrived)) return false;
    for (int step = 1; step < round.replicas(); ++step) {
      const int peer = (round.replica() + step) % round.replicas();
      copyFromPeer(partOf(round.own(), round.replicas(), peer), partOf(round.tensor(peer), round.replicas(), peer));
    }
    round.publish(copied);
  }
  return round.waitedForAll(copied);
}

}  // namespace tandem
