#include <ATen/ATen.h>

#include "comm/local/algorithms.h"
#include "comm/local/local_reduce.h"

namespace tandem {
namespace {

int wrapped(int index, int n) { return ((index % n) + n) % n; }

// Steps 0 .. n-2 reduce, n-1 .. 2n-3 gather. A step may overwrite its chunk because the right neighbour has read the
// older value: a step needs the left neighbour's previous step, and around the ring this leads to the right neighbour.
void takeStep(const CollectiveOp& round, int step) {
  const int n = round.replicas(), left = wrapped(round.replica() - 1, n);
  const bool reducing = step < n - 1;
  const int part = wrapped(reducing ? round.replica() - step - 1 : round.replica() - (step - (n - 1)), n);
  const at::Tensor mine = chunkOf(round.own(), n, part), theirs = chunkOf(round.tensor(left), n, part);
  if (reducing) {
    sumFromPeers(mine, {theirs, mine});
  } else {
    copyFromPeer(mine, theirs);
  }
}

}  // namespace

// The last wait is for the right neighbour, the only one that reads this replica's tensor.
bool advanceRing(CollectiveOp& round) {
  const int n = round.replicas(), steps = 2 * (n - 1);
  for (int step = round.phase() - CollectiveOp::arrived; step < steps; ++step) {
    if (!round.waitedFor(wrapped(round.replica() - 1, n), CollectiveOp::arrived + step)) return false;
    takeStep(round, step);
    round.publish(CollectiveOp::arrived + step + 1);
  }
  return round.waitedFor(wrapped(round.replica() + 1, n), CollectiveOp::arrived + steps);
}

}  // namespace tandem
