#include "comm/local/replica_groups.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include "comm/local/algorithms.h"
#include "support/run_replicas.h"

namespace tandem {
namespace {

using Groups = std::vector<std::vector<int>>;

Groups membersOf(const ReplicaGroups& groups) {
  Groups all;
  for (int group = 0; group < groups.count(); ++group) all.push_back(groups.members(group));
  return all;
}

Groups nearby(const std::vector<Locality>& places) {
  std::vector<Device> devices;
  for (const Locality& place : places) devices.push_back(Device::cpu(0, {}, 1, place));
  return membersOf(nearbyReplicas(pointersTo(devices)));
}

TEST(NearbyReplicas, AreThoseOfANodeOrOfACacheOrHalves) {
  EXPECT_EQ(nearby({{0, 0}, {1, 1}, {0, 0}, {1, 1}}), (Groups{{0, 2}, {1, 3}})) << "of a node";
  EXPECT_EQ(nearby({{0, 0}, {0, 1}, {1, 2}, {1, 3}}), (Groups{{0, 1}, {2, 3}})) << "a node is the larger part";
  EXPECT_EQ(nearby({{0, 4}, {0, 4}, {0, 2}, {0, 2}, {0, 3}}), (Groups{{0, 1}, {2, 3}, {4}})) << "of a cache";
  EXPECT_EQ(nearby({{0, 0}, {0, 0}, {0, 0}, {0, 0}, {0, 0}}), (Groups{{0, 1, 2}, {3, 4}})) << "halves";
  EXPECT_EQ(nearby({{0, 0}, {0, 1}, {0, 2}, {0, 3}}), (Groups{{0, 1}, {2, 3}})) << "a group each is none";
  EXPECT_EQ(nearby({{0, 0}, {0, 0}}), (Groups{{0}, {1}}));
  EXPECT_EQ(nearby({{0, 0}}), (Groups{{0}}));
}

TEST(ReplicaGroups, EachChunkHasAnOwnerInEachGroupWhoArePartners) {
  const ReplicaGroups groups({7, 5, 7, 7, 5});
  EXPECT_EQ(membersOf(groups), (Groups{{0, 2, 3}, {1, 4}}));
  EXPECT_EQ(groups.chunks(), 3);
  EXPECT_EQ(groups.chunksOf(0), std::vector<int>{0});
  EXPECT_EQ(groups.chunksOf(1), (std::vector<int>{0, 2}));
  EXPECT_EQ(groups.chunksOf(4), std::vector<int>{1});
  EXPECT_EQ(groups.partnersOf(1), (std::vector<int>{0, 1, 3}));
  EXPECT_EQ(groups.partnersOf(2), (std::vector<int>{2, 4}));
}

TEST(HierarchicalSlices, OfAllReplicasAreTheWholeTensorOnce) {
  for (const std::vector<int>& groupOf : {std::vector<int>{0}, {0, 1}, {0, 0, 1}, {0, 1, 0, 2, 0, 1, 2}}) {
    for (const int64_t count : {1, 100, 5000}) {
      const ReplicaGroups groups(groupOf);
      const at::Tensor tensor = at::zeros({count});
      for (int replica = 0; replica < static_cast<int>(groupOf.size()); ++replica) {
        for (at::Tensor& slice : hierarchicalSlices(groups, replica, tensor)) slice.add_(1);
      }
      EXPECT_TRUE(tensor.eq(1).all().item<bool>()) << groupOf.size() << " replicas, " << count << " values";
    }
  }
}

}  // namespace
}  // namespace tandem
