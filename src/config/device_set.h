#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "config/config.h"

namespace tandem {

/// A value of --devices other than "auto": "cpu:0+1" or "cuda:0+1" names distinct devices with one replica each, in
/// this order. A device of the CPU is a set of cores: the usable cores are dealt out to cpu:0, cpu:1, ... in their
/// order.
struct DeviceSet {
  bool cpu = true;
  std::vector<int> indices;  ///< empty: "cpu" or "cuda", the first devices, as many as there are replicas

  bool operator==(const DeviceSet&) const = default;
};

/// Empty if the text has none of these forms.
std::optional<DeviceSet> parseDeviceSet(std::string_view text);

/// The text of a set: "cuda:0+1".
std::string textOf(const DeviceSet& set);

/// Whether --devices is of the CPU. "auto" counts as the CPU until it is resolved (run/plan/placement.h).
bool isOnCpu(const Config& config);

/// The name of one device for --parameter-device: "cpu:0" or "cuda:1".
struct DeviceName {
  bool cpu = true;
  int index = 0;
};

/// Empty if the text is not such a name.
std::optional<DeviceName> parseDeviceName(std::string_view text);

/// Number of replicas of a rank: --replicas, or with "auto" the number of devices that --devices names, at least 1.
int64_t replicaCount(const Config& config);

/// The replicas of all ranks.
int64_t totalReplicas(const Config& config);

/// The processes of a run: ranks, and those that only serve.
int64_t processCount(const Config& config);

/// Whether the process of this rank only serves.
bool servesAlone(const Config& config, int64_t rank);

/// The index of each replica's device: those that --devices names, else 0, 1, 2, ...
std::vector<int> deviceIndices(const Config& config);

/// Number of devices that a rank takes of its host, those up to the highest index. The next rank there has the next
/// ones.
int64_t devicesOfRank(const Config& config);

}  // namespace tandem
