#include "run/plan/placement.h"

#include <algorithm>

#include "base/catalog.h"
#include "base/text.h"
#include "config/device_set.h"
#include "device/gpu_support.h"
#include "strategy/strategy.h"

namespace tandem {
namespace {

constexpr std::string_view cpu = "cpu", cuda = "cuda";

bool asksForCores(const Config& config) {
  return config.placement.coresPerReplica != Config().placement.coresPerReplica || config.placement.oversubscribe;
}

/// The first GPUs, one for each replica.
DeviceSet firstGpus(const Config& config, std::vector<int> usable, const CudaFacts& facts) {
  if (usable.empty()) throw UsageError(gpuRefusal(facts, 0));
  const int64_t wanted = config.placement.replicas;
  if (wanted == Config::oneOnEachDevice) return {false, std::move(usable)};
  if (wanted > std::ssize(usable)) {
    throw UsageError(concat("--replicas=", wanted, " with --devices=", config.placement.devices, ": a GPU holds one ",
                            "replica, and this build can use ", usable.size(), " here (",
                            textOf(DeviceSet{false, usable}), "); lower --replicas, or use --devices=cpu"));
  }
  usable.resize(static_cast<size_t>(wanted));
  return {false, std::move(usable)};
}

/// An option of one strategy alone, with what its row must say.
struct OfStrategies {
  std::string_view name;
  std::string Config::Exchange::*field;
  bool StrategyEntry::*uses;
};
constexpr OfStrategies ofStrategies[] = {
    {"--parameter-device", &Config::Exchange::parameterDevice, &StrategyEntry::usesParameterDevice},
    {"--all-reduce", &Config::Exchange::allReduce, &StrategyEntry::usesAllReduce}};

}  // namespace

std::vector<int> usableGpus(const CudaFacts& cuda) {
  std::vector<int> usable;
  for (int i = 0; i < static_cast<int>(cuda.gpus.size()); ++i) {
    if (gpuRefusal(cuda, i).empty()) usable.push_back(i);
  }
  return usable;
}

std::string whyWithoutGpus(const CudaFacts& cuda) {
  return cuda.built && usableGpus(cuda).empty() ? gpuRefusal(cuda, 0) : "";
}

Config placed(Config config, const CudaFacts& facts) {
  std::string& devices = config.placement.devices;
  const std::vector<int> usable = usableGpus(facts);
  const std::string_view kind = asksForCores(config) || usable.empty() ? cpu : cuda;
  const DeviceSet set = parseDeviceSet(devices == Config::automatic ? kind : devices).value();
  devices = textOf(set.cpu || !set.indices.empty() ? set : firstGpus(config, usable, facts));
  config.placement.replicas = replicaCount(config);
  return config;
}

std::vector<std::string> passOver(Config& config) {
  const StrategyEntry& strategy = find(strategies(), config.exchange.strategy, "--strategy");
  std::vector<std::string> notes;
  for (const auto& [name, field, uses] : ofStrategies) {
    std::string& value = config.exchange.*field;
    const std::string standard = Config().exchange.*field;
    if (strategy.*uses || value == standard) continue;
    notes.push_back(
        concat(name, "=", value, " is passed over with --strategy=", strategy.name, ", which has no use for it"));
    value = standard;
  }
  return notes;
}

}  // namespace tandem
