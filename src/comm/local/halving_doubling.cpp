#include <ATen/ATen.h>

#include <bit>
#include <utility>

#include "comm/local/algorithms.h"
#include "comm/local/local_reduce.h"

namespace tandem {
namespace {

constexpr int halfSummed = 2, folded = 3;

/// A replica's place in the algorithm. The largest power of two of replicas is the core. Those beyond it are folded
/// into their neighbours: of the first replicas each two are a pair, of which the even one is in the core.
struct Place {
  int coreSize, pairs;                            ///< number of replicas in the core; of pairs
  int steps;                                      ///< log2 of coreSize
  int core;                                       ///< number in the core; -1: not in it
  int pairOf;                                     ///< the other replica of the pair; -1: there is none
  int end() const { return folded + 2 * steps; }  ///< the phase in which the core holds the result

  int replicaOf(int inCore) const { return inCore < pairs ? 2 * inCore : inCore + pairs; }
  /// The replica with which a step of the given number, from 0, exchanges.
  int partner(int step) const { return replicaOf(core ^ (1 << step)); }
};

Place placeOf(const CollectiveOp& round) {
  const int replica = round.replica();
  Place place{};
  place.coreSize = static_cast<int>(std::bit_floor(static_cast<unsigned>(round.replicas())));
  place.pairs = round.replicas() - place.coreSize;
  place.steps = std::countr_zero(static_cast<unsigned>(place.coreSize));
  const bool paired = replica < 2 * place.pairs, even = replica % 2 == 0;
  place.pairOf = paired ? replica ^ 1 : -1;
  place.core = !paired ? replica - place.pairs : even ? replica / 2 : -1;
  return place;
}

/// The chunks [first, last) of coreSize that a member of the core sums after so many steps: each step keeps a half.
std::pair<int, int> keptChunks(const Place& place, int core, int steps) {
  int first = 0, last = place.coreSize;
  for (int step = 0; step < steps; ++step) {
    const int middle = (first + last) / 2;
    ((core >> step) & 1 ? first : last) = middle;
  }
  return {first, last};
}

at::Tensor kept(const at::Tensor& tensor, const Place& place, int core, int steps) {
  const auto [first, last] = keptChunks(place, core, steps);
  const auto range = [&](int chunk) {
    return chunkRange(tensor.numel(), tensor.element_size(), place.coreSize, chunk);
  };
  const ChunkRange back = range(last - 1);
  const int64_t begin = range(first).begin;
  return tensor.narrow(0, begin, back.begin + back.count - begin);
}

// Of a pair each sums one half of the tensor; then the even one takes the other half over. So neither is idle.
bool foldIn(CollectiveOp& round, const Place& place) {
  const int side = round.replica() % 2;
  if (round.phase() == CollectiveOp::arrived && place.pairOf >= 0) {
    if (!round.waitedFor(place.pairOf, CollectiveOp::arrived)) return false;
    const at::Tensor mine = chunkOf(round.own(), 2, side), theirs = chunkOf(round.tensor(place.pairOf), 2, side);
    sumFromPeers(mine, side == 0 ? std::vector{mine, theirs} : std::vector{theirs, mine});
    round.publish(halfSummed);
  }
  if (place.core < 0 || round.phase() >= folded) return true;
  if (place.pairOf >= 0) {
    if (!round.waitedFor(place.pairOf, halfSummed)) return false;
    copyFromPeer(chunkOf(round.own(), 2, 1), chunkOf(round.tensor(place.pairOf), 2, 1));
  }
  round.publish(folded);
  return true;
}

// The lower number's values come first, so that both would sum to the same bits.
void halve(const CollectiveOp& round, const Place& place, int step) {
  const at::Tensor mine = kept(round.own(), place, place.core, step + 1);
  const at::Tensor theirs = kept(round.tensor(place.partner(step)), place, place.core, step + 1);
  const bool lower = ((place.core >> step) & 1) == 0;
  sumFromPeers(mine, lower ? std::vector{mine, theirs} : std::vector{theirs, mine});
}

void copyHalf(const CollectiveOp& round, const Place& place, int step) {
  const int other = place.core ^ (1 << step);
  copyFromPeer(kept(round.own(), place, other, step + 1),
               kept(round.tensor(place.partner(step)), place, other, step + 1));
}

// Steps 0 .. steps-1 halve, and then double in the opposite order. A step exchanges with one partner, which must have
// done all steps before. In halving it reads what the other does not keep. In doubling it writes what the same partner
// read while both halved.
bool advanceCore(CollectiveOp& round, const Place& place) {
  for (int done = round.phase() - folded; done < 2 * place.steps; ++done) {
    const bool halving = done < place.steps;
    const int step = halving ? done : 2 * place.steps - 1 - done;
    if (!round.waitedFor(place.partner(step), folded + done)) return false;
    halving ? halve(round, place, step) : copyHalf(round, place, step);
    round.publish(folded + done + 1);
  }
  return true;
}

/// Waits until nobody reads this member's tensor any more.
bool isReadByAll(CollectiveOp& round, const Place& place) {
  std::vector<int> partners;
  for (int step = 0; step < place.steps; ++step) partners.push_back(place.partner(step));
  if (!round.waitedForEach(partners, place.end())) return false;
  return place.pairOf < 0 || round.waitedFor(place.pairOf, place.end() + 1);
}

}  // namespace

bool advanceHalvingDoubling(CollectiveOp& round) {
  const Place place = placeOf(round);
  if (round.phase() < folded && !foldIn(round, place)) return false;
  if (place.core >= 0) return advanceCore(round, place) && isReadByAll(round, place);
  if (!round.waitedFor(place.pairOf, place.end())) return false;
  copyFromPeer(round.own(), round.tensor(place.pairOf));
  round.publish(place.end() + 1);
  return true;
}

}  // namespace tandem
