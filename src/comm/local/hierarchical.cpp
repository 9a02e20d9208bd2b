#include <ATen/ATen.h>

#include "comm/local/algorithms.h"
#include "comm/local/local_reduce.h"
#include "comm/local/replica_groups.h"

namespace tandem {
namespace {

constexpr int groupSummed = 2, summed = 3;

/// The part of a chunk that the owner in `group` sums over all groups.
at::Tensor partOfGroup(const at::Tensor& tensor, const ReplicaGroups& groups, int chunk, int group) {
  return chunkOf(chunkOf(tensor, groups.chunks(), chunk), groups.count(), group);
}

const std::vector<int>& groupOf(const CollectiveOp& round) {
  return round.groups().members(round.groups().groupOf(round.replica()));
}

void sumInGroup(const CollectiveOp& round) {
  const ReplicaGroups& groups = round.groups();
  if (groupOf(round).size() == 1) return;
  for (const int chunk : groups.chunksOf(round.replica())) {
    std::vector<at::Tensor> sources;
    for (const int member : groupOf(round)) sources.push_back(chunkOf(round.tensor(member), groups.chunks(), chunk));
    sumFromPeers(chunkOf(round.own(), groups.chunks(), chunk), std::move(sources));
  }
}

// Each partner sums another part of their chunk, so none writes what another one reads.
void sumWithPartners(const CollectiveOp& round) {
  const ReplicaGroups& groups = round.groups();
  const int own = groups.groupOf(round.replica());
  for (const int chunk : groups.chunksOf(round.replica())) {
    std::vector<at::Tensor> sources;
    for (int group = 0; group < groups.count(); ++group) {
      sources.push_back(partOfGroup(round.tensor(groups.owner(group, chunk)), groups, chunk, own));
    }
    sumFromPeers(partOfGroup(round.own(), groups, chunk, own), std::move(sources));
  }
}

void copyFromPartners(const CollectiveOp& round) {
  const ReplicaGroups& groups = round.groups();
  for (const int chunk : groups.chunksOf(round.replica())) {
    for (int step = 1; step < groups.count(); ++step) {
      const int group = (groups.groupOf(round.replica()) + step) % groups.count();
      copyFromPeer(partOfGroup(round.own(), groups, chunk, group),
                   partOfGroup(round.tensor(groups.owner(group, chunk)), groups, chunk, group));
    }
  }
}

// Every replica starts with another chunk, so that they do not all read the same memory at once.
void copyFromGroup(const CollectiveOp& round) {
  const ReplicaGroups& groups = round.groups();
  for (int step = 1; step <= groups.chunks(); ++step) {
    const int chunk = (round.replica() + step) % groups.chunks();
    const int owner = groups.owner(groups.groupOf(round.replica()), chunk);
    if (owner == round.replica()) continue;
    copyFromPeer(chunkOf(round.own(), groups.chunks(), chunk), chunkOf(round.tensor(owner), groups.chunks(), chunk));
  }
}

/// To the phase `summed`, in which the parts that this replica owns are those of the result.
bool advanceToSums(CollectiveOp& round) {
  if (round.phase() == CollectiveOp::arrived) {
    if (!round.waitedForEach(groupOf(round), CollectiveOp::arrived)) return false;
    sumInGroup(round);
    round.publish(groupSummed);
  }
  if (round.phase() == groupSummed) {
    if (!round.waitedForEach(round.groups().partnersOf(round.replica()), groupSummed)) return false;
    sumWithPartners(round);
    round.publish(summed);
  }
  return true;
}

/// From a phase in which all own their parts of the result, to the end.
bool advanceFromSums(CollectiveOp& round, int owned) {
  const int chunksWhole = owned + 1, copied = owned + 2;
  const std::vector<int>& partners = round.groups().partnersOf(round.replica());
  if (round.phase() == owned) {
    if (!round.waitedForEach(partners, owned)) return false;
    copyFromPartners(round);
    round.publish(chunksWhole);
  }
  if (round.phase() == chunksWhole) {
    if (!round.waitedForEach(groupOf(round), chunksWhole)) return false;
    copyFromGroup(round);
    round.publish(copied);
  }
  return round.waitedForEach(groupOf(round), copied) && round.waitedForEach(partners, chunksWhole);
}

}  // namespace

// Four steps: sums within the group, sums between partners, copies between partners, copies within the group. Here is
// why nobody writes what another one may still read. A replica writes a chunk that it does not own in the last step
// alone; the owner read it in the first one. It writes a partner's part of its own chunk in the third step; the partner
// read it in the second. Nobody reads the part that it sums itself before it is summed.
bool advanceHierarchical(CollectiveOp& round) { return advanceToSums(round) && advanceFromSums(round, summed); }

bool advanceHierarchicalScatter(CollectiveOp& round) {
  return advanceToSums(round) && round.waitedForEach(groupOf(round), groupSummed) &&
         round.waitedForEach(round.groups().partnersOf(round.replica()), summed);
}

bool advanceHierarchicalGather(CollectiveOp& round) { return advanceFromSums(round, CollectiveOp::arrived); }

std::vector<at::Tensor> hierarchicalSlices(const ReplicaGroups& groups, int replica, const at::Tensor& tensor) {
  std::vector<at::Tensor> slices;
  for (const int chunk : groups.chunksOf(replica)) {
    slices.push_back(partOfGroup(tensor, groups, chunk, groups.groupOf(replica)));
  }
  return slices;
}

}  // namespace tandem
