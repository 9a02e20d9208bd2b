#include "comm/local/replica_groups.h"

#include <algorithm>
#include <set>

namespace tandem {
namespace {

bool groups(const std::vector<int>& groupOf) {
  const size_t count = std::set<int>(groupOf.begin(), groupOf.end()).size();
  return count > 1 && count < groupOf.size();
}

std::vector<int> halves(size_t replicas) {
  std::vector<int> groupOf;
  for (size_t i = 0; i < replicas; ++i) groupOf.push_back(2 * i < replicas ? 0 : 1);
  return groupOf;
}

}  // namespace

ReplicaGroups::ReplicaGroups(const std::vector<int>& groupOf) {
  std::vector<int> found;
  for (size_t replica = 0; replica < groupOf.size(); ++replica) {
    const auto known = std::ranges::find(found, groupOf[replica]);
    const auto group = static_cast<size_t>(known - found.begin());
    if (known == found.end()) found.push_back(groupOf[replica]), members_.emplace_back();
    groupOf_.push_back(static_cast<int>(group));
    members_[group].push_back(static_cast<int>(replica));
    chunks_ = std::max(chunks_, static_cast<int>(members_[group].size()));
  }
}

int ReplicaGroups::owner(int group, int chunk) const {
  const std::vector<int>& all = members(group);
  return all[static_cast<size_t>(chunk) % all.size()];
}

std::vector<int> ReplicaGroups::chunksOf(int replica) const {
  std::vector<int> owned;
  for (int chunk = 0; chunk < chunks_; ++chunk) {
    if (owner(groupOf(replica), chunk) == replica) owned.push_back(chunk);
  }
  return owned;
}

std::vector<int> ReplicaGroups::partnersOf(int replica) const {
  std::set<int> partners;
  for (const int chunk : chunksOf(replica)) {
    for (int group = 0; group < count(); ++group) partners.insert(owner(group, chunk));
  }
  return {partners.begin(), partners.end()};
}

ReplicaGroups nearbyReplicas(const std::vector<const Device*>& devices) {
  std::vector<int> nodes, caches;
  for (const Device* device : devices) {
    nodes.push_back(device->memoryNode());
    caches.push_back(device->cache());
  }
  if (groups(nodes)) return ReplicaGroups(nodes);
  return ReplicaGroups(groups(caches) ? caches : halves(devices.size()));
}

}  // namespace tandem
