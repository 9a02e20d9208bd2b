#include "strategy/variable_placement.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include "base/catalog.h"
#include "strategy/strategy.h"
#include "support/recorded_streams.h"
#include "support/run_replicas.h"

namespace tandem {
namespace {

// Buffers hold variables in the order of backward: the one created first comes last.
FlatBuffers buffersOf(const std::vector<int64_t>& creationCounts) {
  std::vector<ParameterSpec> specs;
  for (const int64_t count : creationCounts) specs.insert(specs.begin(), {"", {count}, false});
  return {specs, find(precisions(), "fp32", "precision"), at::kCPU, at::MemoryFormat::Contiguous};
}

TEST(PlaceOnLeastLoaded, TakesTheDeviceWithTheFewestBytesSoFar) {
  EXPECT_EQ(placeOnLeastLoaded(std::vector<int64_t>{10, 4, 3, 8, 1, 20}, 2), (std::vector<int>{0, 1, 1, 1, 0, 0}));
  EXPECT_EQ(placeOnLeastLoaded(std::vector<int64_t>{1, 1, 1, 1}, 3), (std::vector<int>{0, 1, 2, 0}));
  EXPECT_EQ(placeOnLeastLoaded(std::vector<int64_t>{5, 5}, 1), (std::vector<int>{0, 0}));
}

TEST(PlanShards, DevicePlacesInCreationOrder) {
  const auto devices = cpuDevices(2);
  const auto shards = placeShards(buffersOf({10, 4, 3, 8}), {"device", pointersTo(devices)});
  ASSERT_EQ(shards.size(), 2);
  EXPECT_EQ(shards[0].variables, (std::vector<int>{3}));  // created first
  EXPECT_EQ(shards[1].variables, (std::vector<int>{0, 1, 2}));
  EXPECT_EQ(shards[1].owners, (std::vector<int>{1}));
  EXPECT_EQ(shards[1].builder, 1);
}

TEST(PlanShards, DeviceWithFewerVariablesThanReplicasHasNoEmptyShard) {
  const auto devices = cpuDevices(4);
  EXPECT_EQ(placeShards(buffersOf({10, 4}), {"device", pointersTo(devices)}).size(), 2);
}

TEST(PlanShards, CpuIsOneShardThatAllCpuReplicasUpdate) {
  const auto devices = cpuDevices(3);
  const auto shards = placeShards(buffersOf({10, 4, 3}), {"cpu", pointersTo(devices)});
  ASSERT_EQ(shards.size(), 1);
  EXPECT_EQ(shards[0].variables, (std::vector<int>{0, 1, 2}));
  EXPECT_EQ(shards[0].owners, (std::vector<int>{0, 1, 2}));
  EXPECT_FALSE(shards[0].throughHost);
}

TEST(PlanShards, CpuIsOneShardOfReplicaZeroWhereWorkIsEnqueued) {
  std::vector<Device> devices;
  for (int i = 0; i < 3; ++i) devices.push_back(Device::cpuWithStreams(i, CapturedStreams::device(i)));
  const auto shards = placeShards(buffersOf({10, 4, 3}), {"cpu", pointersTo(devices)});
  ASSERT_EQ(shards.size(), 1);
  EXPECT_EQ(shards[0].owners, (std::vector<int>{0}));
  EXPECT_TRUE(shards[0].throughHost);
  for (const ShardPlacement& shard : placeShards(buffersOf({10, 4, 3}), {"device", pointersTo(devices)})) {
    EXPECT_FALSE(shard.throughHost) << "replica " << shard.builder << " holds it";
  }
}

TEST(PlanShards, ANameHoldsEverything) {
  const auto devices = cpuDevices(3);
  const auto shards = placeShards(buffersOf({10, 4, 3}), {"cpu:1", pointersTo(devices)});
  ASSERT_EQ(shards.size(), 1);
  EXPECT_EQ(shards[0].variables, (std::vector<int>{0, 1, 2}));
  EXPECT_EQ(shards[0].owners, (std::vector<int>{1}));
}

TEST(PlanShards, ServersShareTheVariablesByBytesAndTheirReplicasShareThoseOfEach) {
  const auto devices = cpuDevices(2);
  const FlatBuffers buffers = buffersOf({10, 4, 3, 8, 1});  // created in this order: variables 4 to 0
  const auto onHost = placeShards(buffers, {"cpu", pointersTo(devices), {0, 2}});
  ASSERT_EQ(onHost.size(), 2);
  EXPECT_EQ(onHost[0].variables, (std::vector<int>{0, 4}));
  EXPECT_EQ(onHost[0].server, 0);
  EXPECT_EQ(onHost[1].variables, (std::vector<int>{1, 2, 3}));
  EXPECT_EQ(onHost[1].server, 2);
  EXPECT_EQ(onHost[1].owners, (std::vector<int>{0, 1}));
  const auto spread = placeShards(buffers, {"device", pointersTo(devices), {0, 2}});
  ASSERT_EQ(spread.size(), 4);
  EXPECT_EQ(spread[2].variables, (std::vector<int>{3}));
  EXPECT_EQ(spread[3].variables, (std::vector<int>{1, 2}));
  EXPECT_EQ(spread[3].server, 2);
  EXPECT_EQ(spread[3].owners, (std::vector<int>{1}));
}

TEST(PlanShards, ServersWithoutVariablesHaveNoShard) {
  const auto devices = cpuDevices(1);
  EXPECT_EQ(placeShards(buffersOf({10, 4}), {"cpu", pointersTo(devices), {0, 1, 2}}).size(), 2);
}

TEST(PlanShards, AnUnknownNameListsTheValidOnes) {
  const auto devices = cpuDevices(2);
  try {
    placeShards(buffersOf({10}), {"cpu:7", pointersTo(devices)});
    FAIL();
  } catch (const UsageError& failure) {
    const std::string text = failure.what();
    EXPECT_NE(text.find("'cpu:7'"), std::string::npos) << text;
    EXPECT_NE(text.find("cpu, device, cpu:0, cpu:1"), std::string::npos) << text;
  }
}

TEST(OwnedRange, RangesCoverASegmentEvenly) {
  for (const int owners : {1, 2, 3, 5}) {
    int64_t covered = 0;
    for (int i = 0; i < owners; ++i) {
      const Slice range = ownedRange(buffersOf({10}), {1, 0, 10000}, owners, i, /*wholeParameters=*/false);
      EXPECT_EQ(range.segment, 1);
      EXPECT_EQ(range.begin, covered);
      EXPECT_NEAR(static_cast<double>(range.count()), 10000.0 / owners, 64);
      covered = range.end;
    }
    EXPECT_EQ(covered, 10000);
  }
}

// Each parameter has one owner, whose range may be empty; padding belongs to the range before.
TEST(OwnedRange, WholeParametersAreNotCut) {
  const FlatBuffers buffers = buffersOf({10, 500, 7, 7, 900, 20});
  for (const int owners : {1, 2, 3, 8}) {
    for (const Slice all : {buffers.whole(0), Slice{0, buffers.slice(1).begin, buffers.slice(4).begin}}) {
      int64_t covered = all.begin, longest = 0;
      for (int i = 0; i < owners; ++i) {
        const Slice range = ownedRange(buffers, all, owners, i, /*wholeParameters=*/true);
        EXPECT_EQ(range.begin, covered) << owners;
        covered = range.end, longest = std::max(longest, range.count());
        for (int parameter = 0; parameter < buffers.parameters(); ++parameter) {
          const Slice slice = buffers.slice(parameter);
          EXPECT_FALSE(slice.begin < range.begin && slice.end > range.begin) << parameter << " of " << owners;
        }
      }
      EXPECT_EQ(covered, all.end);
      EXPECT_LE(longest, all.count() / owners + 900 + 64) << "they are shared out";
    }
  }
}

}  // namespace
}  // namespace tandem
