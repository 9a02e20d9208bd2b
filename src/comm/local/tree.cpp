#include <ATen/ATen.h>

#include "comm/local/algorithms.h"
#include "comm/local/local_reduce.h"

namespace tandem {
namespace {

constexpr int subtreeSummed = 2, resultHere = 3;

// Replica r's parent is r without its lowest set bit.
int parentOf(int replica) { return replica & (replica - 1); }

// The children of r are r + 1, r + 2, r + 4, ... below the lowest set bit of r: the inverse of parentOf().
std::vector<int> childrenOf(int replica, int n) {
  std::vector<int> children;
  for (int distance = 1; replica + distance < n && (replica & distance) == 0; distance *= 2) {
    children.push_back(replica + distance);
  }
  return children;
}

void sumSubtree(const CollectiveOp& round, const std::vector<int>& children) {
  std::vector<at::Tensor> sources{round.own()};
  for (const int child : children) sources.push_back(round.tensor(child));
  if (!children.empty()) sumFromPeers(round.own(), std::move(sources));
}

}  // namespace

// A parent sums its children's tensors, which they may overwrite only when it has published `resultHere`.
bool advanceTree(CollectiveOp& round) {
  const auto children = childrenOf(round.replica(), round.replicas());
  if (round.phase() == CollectiveOp::arrived) {
    if (!round.waitedForEach(children, subtreeSummed)) return false;
    sumSubtree(round, children);
    round.publish(subtreeSummed);
  }
  if (round.phase() == subtreeSummed) {
    const int parent = parentOf(round.replica());
    if (round.replica() != 0) {
      if (!round.waitedFor(parent, resultHere)) return false;
      copyFromPeer(round.own(), round.tensor(parent));
    }
    round.publish(resultHere);
  }
  return round.waitedForEach(children, resultHere);
}

}  // namespace tandem
