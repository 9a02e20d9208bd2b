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

std::vector<int> countingFromZero(size_t count) {
  std::vector<int> numbers(count);
  std::iota(numbers.begin(), numbers.end(), 0);
  return numbers;
}

ShardPlacement hostShard(std::vector<int> variables, const VariablePlacementOptions& options) {
  const auto& devices = options.devices;
  const bool streams = std::any_of(devices.begin(), devices.end(), [](auto* device) { return device->hasStreams(); });
  return {at::kCPU, 0, countingFromZero(streams ? 1 : devices.size()), std::move(variables), /*throughHost=*/streams};
}

// The variables of each of `places`. They are dealt in creation order, which the buffers reverse.
std::vector<std::vector<int>> spread(const FlatBuffers& buffers, const std::vector<int>& variables, size_t places) {
  std::vector<int64_t> created;
  for (auto i = variables.rbegin(); i != variables.rend(); ++i) {
    created.push_back(buffers.slice(*i).count() * static_cast<int64_t>(sizeof(float)));
  }
  std::vector<int> placed = placeOnLeastLoaded(created, static_cast<int>(places));
  std::reverse(placed.begin(), placed.end());
  std::vector<std::vector<int>> dealt(places);
  for (size_t i = 0; i < placed.size(); ++i) dealt[static_cast<size_t>(placed[i])].push_back(variables[i]);
  return dealt;
}

// The shards of a server.
std::vector<ShardPlacement> shardsOf(const FlatBuffers& buffers, const std::vector<int>& variables,
                                     const VariablePlacementOptions& options) {
  if (options.parameterDevice == onHost) return {hostShard(variables, options)};
  const size_t replicas = options.devices.size();
  std::vector<std::vector<int>> dealt(replicas);
  if (options.parameterDevice == onEveryReplica) {
    dealt = spread(buffers, variables, replicas);
  } else {
    dealt.at(static_cast<size_t>(indexOfDevice(options))) = variables;
  }
  std::vector<ShardPlacement> shards;
  for (size_t i = 0; i < replicas; ++i) {
    const auto replica = static_cast<int>(i);
    shards.push_back({options.devices[i]->torch(), replica, {replica}, std::move(dealt[i])});
  }
  return shards;
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
  const auto all = countingFromZero(static_cast<size_t>(buffers.parameters()));
  const auto ofServers = spread(buffers, all, options.servers.size());
  std::vector<ShardPlacement> shards;
  for (size_t i = 0; i < ofServers.size(); ++i) {
    for (ShardPlacement& shard : shardsOf(buffers, ofServers[i], options)) {
      shard.server = options.servers[i];
      if (!shard.variables.empty()) shards.push_back(std::move(shard));
    }
  }
  return shards;
}

// Borders for 2-byte elements lie on cache lines for wider types too.
Slice ownedRange(const FlatBuffers& buffers, Slice all, int owners, int index, bool wholeParameters) {
  const ChunkRange range = chunkRange(all.count(), /*elementBytes=*/2, owners, index);
  const int64_t begin = all.begin + range.begin, end = begin + range.count;
  if (!wholeParameters) return {all.segment, begin, end};
  const auto border = [&](int64_t from) {
    const std::vector<int> behind = buffers.parametersIn({all.segment, from, all.end});
    return behind.empty() ? all.end : buffers.slice(behind.front()).begin;
  };
  return {all.segment, border(begin), border(end)};
}

}  // namespace tandem
