#include "config/device_set.h"

#include <algorithm>
#include <numeric>

#include "base/number.h"
#include "base/text.h"

namespace tandem {
namespace {

constexpr int largestIndex = 4095;
constexpr std::string_view cpu = "cpu", cuda = "cuda";

std::optional<int> parseIndex(std::string_view text) {
  const auto index = numberWithin(text, 0, largestIndex);
  return index ? std::optional(static_cast<int>(*index)) : std::nullopt;
}

DeviceSet setOf(const Config& config) { return parseDeviceSet(config.placement.devices).value_or(DeviceSet()); }

}  // namespace

std::optional<DeviceSet> parseDeviceSet(std::string_view text) {
  const size_t colon = std::min(text.find(':'), text.size());
  const std::string_view kind = text.substr(0, colon);
  if (kind != cpu && kind != cuda) return std::nullopt;
  DeviceSet set{kind == cpu, {}};
  if (colon == text.size()) return set;
  for (const std::string& part : split(text.substr(colon + 1), "+")) {
    const auto index = parseIndex(part);
    if (!index || std::ranges::count(set.indices, *index) > 0) return std::nullopt;
    set.indices.push_back(*index);
  }
  return set;
}

std::string textOf(const DeviceSet& set) {
  std::vector<std::string> parts;
  for (const int index : set.indices) parts.push_back(concat(index));
  return concat(set.cpu ? cpu : cuda, parts.empty() ? "" : ":", join(parts, "+"));
}

std::optional<DeviceName> parseDeviceName(std::string_view text) {
  const size_t colon = text.find(':');
  if (colon == std::string_view::npos) return std::nullopt;
  const std::string_view kind = text.substr(0, colon);
  const auto index = parseIndex(text.substr(colon + 1));
  if (!index || (kind != cpu && kind != cuda)) return std::nullopt;
  return DeviceName{kind == cpu, *index};
}

bool isOnCpu(const Config& config) { return setOf(config).cpu; }

int64_t replicaCount(const Config& config) {
  if (config.placement.replicas != Config::oneOnEachDevice) return config.placement.replicas;
  return std::max<int64_t>(1, std::ssize(setOf(config).indices));
}

int64_t processCount(const Config& config) { return config.placement.ranks + config.placement.servers; }

bool servesAlone(const Config& config, int64_t rank) { return rank >= config.placement.ranks; }

int64_t totalReplicas(const Config& config) { return config.placement.ranks * replicaCount(config); }

std::vector<int> deviceIndices(const Config& config) {
  std::vector<int> indices = setOf(config).indices;
  if (!indices.empty()) return indices;
  indices.resize(static_cast<size_t>(replicaCount(config)));
  std::iota(indices.begin(), indices.end(), 0);
  return indices;
}

int64_t devicesOfRank(const Config& config) { return 1 + std::ranges::max(deviceIndices(config)); }

}  // namespace tandem
