#include "run/plan/placement.h"

#include <algorithm>

#include "base/catalog.h"
#include "base/text.h"
#include "config/device_set.h"
#include "config/option.h"
#include "device/gpu_support.h"
#include "strategy/strategy.h"

namespace tandem {
namespace {

constexpr std::string_view cpu = "cpu", cuda = "cuda";

bool asksForCores(const Config& config) {
  return config.placement.coresPerReplica != Config().placement.coresPerReplica || config.placement.oversubscribe;
}

/// The first GPUs, one for each replica. Of several ranks those of the first one, which has one unless --replicas asks
/// for more.
DeviceSet firstGpus(const Config& config, std::vector<int> usable, const CudaFacts& facts) {
  if (usable.empty()) throw UsageError(gpuRefusal(facts, 0));
  const bool isOneOnEach = config.placement.replicas == Config::oneOnEachDevice;
  if (isOneOnEach && processCount(config) == 1) return {false, std::move(usable)};
  const int64_t wanted = isOneOnEach ? 1 : config.placement.replicas;
  if (wanted > std::ssize(usable)) {
    throw UsageError(concat("--replicas=", wanted, " with --devices=", config.placement.devices, ": a GPU holds one ",
                            "replica, and this build can use ", usable.size(), " here (",
                            textOf(DeviceSet{false, usable}), "); lower --replicas, or use --devices=cpu"));
  }
  usable.resize(static_cast<size_t>(wanted));
  return {false, std::move(usable)};
}

/// An option that some rows of a catalog alone have a use for, with what the row must say.
template <class Entry>
struct OptionOf {
  std::string_view name;
  bool Entry::*uses;
};
constexpr OptionOf<StrategyEntry> ofStrategies[] = {
    {"parameter-device", &StrategyEntry::usesServer},      {"server-ranks", &StrategyEntry::usesServer},
    {"server-mode", &StrategyEntry::usesServer},           {"max-staleness", &StrategyEntry::usesServer},
    {"all-reduce", &StrategyEntry::usesAllReduce},         {"sync-every", &StrategyEntry::usesLocalSgd},
    {"block-momentum", &StrategyEntry::usesLocalSgd},      {"gradient-precision", &StrategyEntry::sendsGradients},
    {"compression", &StrategyEntry::usesCompression},      {"compression-ratio", &StrategyEntry::usesCompression},
    {"compression-rank", &StrategyEntry::usesCompression}, {"compression-start", &StrategyEntry::usesCompression}};
constexpr OptionOf<ServerModeEntry> ofServerModes[] = {{"max-staleness", &ServerModeEntry::usesStaleness}};
constexpr OptionOf<CompressionEntry> ofCompressions[] = {{"compression-ratio", &CompressionEntry::usesRatio},
                                                         {"compression-rank", &CompressionEntry::usesRank}};

/// Puts those of `table` back to their defaults that `row` has no use for. `chosenBy`: the option that names the row.
template <class Entry, size_t count>
void passOver(Config& config, const OptionOf<Entry> (&table)[count], const Entry& row, std::string_view chosenBy,
              std::vector<std::string>& notes) {
  const Config standard;
  for (const auto& [name, uses] : table) {
    const Option& option = *findOption(name);
    const std::string value = valueText(config, option);
    if (row.*uses || value == valueText(standard, option)) continue;
    notes.push_back(
        concat("--", name, '=', value, " is passed over with ", chosenBy, '=', row.name, ", which has no use for it"));
    std::visit([&](const auto& field) { field.change(config) = field.read(standard); }, option.field);
  }
}

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
  std::vector<std::string> notes;
  passOver(config, ofStrategies, find(strategies(), config.exchange.strategy, "--strategy"), "--strategy", notes);
  passOver(config, ofServerModes, find(serverModes(), config.exchange.serverMode, "--server-mode"), "--server-mode",
           notes);
  passOver(config, ofCompressions, find(compressions(), config.exchange.compression, "--compression"), "--compression",
           notes);
  return notes;
}

}  // namespace tandem
