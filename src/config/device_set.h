#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "config/config.h"

namespace tandem {

/// A value of --devices: "cpu", or different GPUs as "cuda:0+1" (one replica each, in this order).
struct DeviceSet {
  bool cpu = true;
  std::vector<int> cuda;  ///< empty when cpu
};

/// Empty when the text is neither form.
std::optional<DeviceSet> parseDeviceSet(std::string_view text);

/// Whether --devices is cpu.
bool isOnCpu(const Config& config);

/// The name of one device, "cpu:0" or "cuda:1", as --parameter-device takes it.
struct DeviceName {
  bool cpu = true;
  int index = 0;
};

/// Empty when the text is no such name.
std::optional<DeviceName> parseDeviceName(std::string_view text);

/// The replicas a configuration means: --replicas, or the number of GPUs of --devices when --replicas is 1.
/// REQUIRES: config.devices is valid.
int64_t replicaCount(const Config& config);

}  // namespace tandem
