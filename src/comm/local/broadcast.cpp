#include <ATen/ATen.h>

#include "comm/local/algorithms.h"
#include "comm/local/local_reduce.h"

namespace tandem {
namespace {

constexpr int copied = 2;

}  // namespace

// Only the root must wait for the others: they read its tensor, nobody reads theirs.
bool advanceBroadcast(CollectiveOp& round) {
  if (round.phase() == CollectiveOp::arrived) {
    if (!round.waitedFor(0, CollectiveOp::arrived)) return false;
    if (round.replica() != 0) copyFromPeer(round.own(), round.tensor(0));
    round.publish(copied);
  }
  return round.replica() != 0 || round.waitedForAll(copied);
}

}  // namespace tandem
