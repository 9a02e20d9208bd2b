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
  for (size_t replica = 0; replica < groupOf_.size(); ++replica) {
    std::vector<int>& owned = chunksOf_.emplace_back();
    std::set<int> partners;
    for (int chunk = 0; chunk < chunks_; ++chunk) {
      if (owner(groupOf_[replica], chunk) != static_cast<int>(replica)) continue;
      owned.push_back(chunk);
      for (int group = 0; group < count(); ++group) partners.insert(owner(group, chunk));
    }
    partnersOf_.emplace_back(partners.begin(), partners.end());
  }
}

int ReplicaGroups::owner(int group, int chunk) const {
  const std::vector<int>& all = members(group);
  return all[static_cast<size_t>(chunk) % all.size()];
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
