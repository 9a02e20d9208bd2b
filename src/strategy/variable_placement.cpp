#include "strategy/variable_placement.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <numeric>

#include "base/catalog.h"
#include "comm/local/algorithms.h"

namespace tandem {
namespace {

int indexOfDevice(const VariablePlacementOptions& options) {
  for (size_t i = 0; i < options.devices.size(); ++i) {
    if (options.devices[i]->name() == options.parameterDevice) return static_cast<int>(i);
  }
  return -1;
}

std::vector<ShardPlacement> hostShard(const FlatBuffers& buffers, const VariablePlacementOptions& options) {
  const auto& devices = options.devices;
  const bool streams = std::any_of(devices.begin(), devices.end(), [](auto* device) { return device->hasStreams(); });
  ShardPlacement shard{at::kCPU, 0, {0}, std::vector<int>(buffers.parameters()), /*throughHost=*/streams};
  if (!streams) {
    shard.owners.resize(options.devices.size());
    std::iota(shard.owners.begin(), shard.owners.end(), 0);
  }
  std::iota(shard.variables.begin(), shard.variables.end(), 0);
  return {shard};
}

// The replica that holds each variable of the buffers. Variables are dealt in creation order, which the buffers
// reverse.
std::vector<int> spread(const FlatBuffers& buffers, int replicas) {
  std::vector<int64_t> created;
  for (int i = buffers.parameters() - 1; i >= 0; --i) created.push_back(buffers.slice(i).count() * sizeof(float));
  std::vector<int> placed = placeOnLeastLoaded(created, replicas);
  std::reverse(placed.begin(), placed.end());
  return placed;
}

}  // namespace

std::vector<int> placeOnLeastLoaded(std::span<const int64_t> bytes, int devices) {
  std::vector<int64_t> load(devices, 0);
  std::vector<int> placed;
  for (const int64_t size : bytes) {
    const auto least = std::min_element(load.begin(), load.end());
    *least += size;
    placed.push_back(static_cast<int>(least - load.begin()));
  }
  return placed;
}

void checkParameterDevice(const VariablePlacementOptions& options) {
  if (options.parameterDevice == onHost || options.parameterDevice == onEveryReplica || indexOfDevice(options) >= 0)
    return;
  std::vector<std::string> valid{std::string(onHost), std::string(onEveryReplica)};
  for (const Device* device : options.devices) valid.push_back(device->name());
  throw UsageError(unknownName("--parameter-device", options.parameterDevice, valid));
}

std::vector<ShardPlacement> placeShards(const FlatBuffers& buffers, const VariablePlacementOptions& options) {
  checkParameterDevice(options);
  if (options.parameterDevice == onHost) return hostShard(buffers, options);
  const auto replicas = static_cast<int>(options.devices.size());
  const bool everywhere = options.parameterDevice == onEveryReplica;
  const std::vector<int> placed =
      everywhere ? spread(buffers, replicas) : std::vector<int>(buffers.parameters(), indexOfDevice(options));
  std::vector<ShardPlacement> shards;
  for (int replica = 0; replica < replicas; ++replica) {
    ShardPlacement shard{options.devices[replica]->torch(), replica, {replica}, {}};
    for (int i = 0; i < buffers.parameters(); ++i) {
      if (placed[i] == replica) shard.variables.push_back(i);
    }
    if (!shard.variables.empty()) shards.push_back(shard);
  }
  return shards;
}

// Borders for 2-byte elements lie on cache lines for wider types too.
Slice ownedRange(Slice whole, int owners, int index) {
  const ChunkRange range = chunkRange(whole.count(), /*elementBytes=*/2, owners, index);
  return {whole.segment, whole.begin + range.begin, whole.begin + range.begin + range.count};
}

}  // namespace tandem
