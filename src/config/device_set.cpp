#include "config/device_set.h"

#include <algorithm>
#include <charconv>

#include "base/error.h"
#include "base/text.h"

namespace tandem {
namespace {

constexpr int largestIndex = 4095;
constexpr std::string_view cpu = "cpu", cuda = "cuda";

std::optional<int> parseIndex(std::string_view text) {
  int index = -1;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), index);
  const bool whole = error == std::errc() && end == text.data() + text.size();
  if (!whole || index < 0 || index > largestIndex) return std::nullopt;
  return index;
}

}  // namespace

std::optional<DeviceSet> parseDeviceSet(std::string_view text) {
  const std::string prefix = concat(cuda, ':');
  if (text == cpu) return DeviceSet{};
  if (!text.starts_with(prefix)) return std::nullopt;
  DeviceSet set{false, {}};
  for (const std::string& part : split(text.substr(prefix.size()), "+")) {
    const auto index = parseIndex(part);
    if (!index || std::count(set.cuda.begin(), set.cuda.end(), *index) > 0) return std::nullopt;
    set.cuda.push_back(*index);
  }
  return set;
}

std::optional<DeviceName> parseDeviceName(std::string_view text) {
  const size_t colon = text.find(':');
  if (colon == std::string_view::npos) return std::nullopt;
  const std::string_view kind = text.substr(0, colon);
  const auto index = parseIndex(text.substr(colon + 1));
  if (!index || (kind != cpu && kind != cuda)) return std::nullopt;
  return DeviceName{kind == cpu, *index};
}

bool isOnCpu(const Config& config) { return config.placement.devices == cpu; }

int64_t replicaCount(const Config& config) {
  const auto set = parseDeviceSet(config.placement.devices);
  check(set.has_value(), "replicaCount: --devices was not checked");
  if (set->cpu || config.placement.replicas != 1) return config.placement.replicas;
  return static_cast<int64_t>(set->cuda.size());
}

}  // namespace tandem
