#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "config/config.h"

namespace tandem {

/// A value of --devices: "cpu", or distinct GPUs as "cuda:0+1", with one replica each, in this order.
struct DeviceSet {
  bool cpu = true;
  std::vector<int> cuda;  ///< empty for cpu
};

/// Empty if the text has neither form.
std::optional<DeviceSet> parseDeviceSet(std::string_view text);

/// Whether --devices is cpu.
bool isOnCpu(const Config& config);

/// The name of one device for --parameter-device: "cpu:0" or "cuda:1".
struct DeviceName {
  bool cpu = true;
  int index = 0;
};

/// Empty if the text is not such a name.
std::optional<DeviceName> parseDeviceName(std::string_view text);

/// Number of replicas: --replicas, or the number of GPUs in --devices if --replicas is 1. REQUIRES:
/// config.placement.devices is valid.
int64_t replicaCount(const Config& config);

}  // namespace tandem
