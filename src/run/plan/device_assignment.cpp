#include "run/plan/device_assignment.h"

#include <algorithm>
#include <limits>

#include "base/error.h"
#include "base/text.h"
#include "config/device_set.h"
#include "device/device.h"
#include "machine/gpu/gpu_facts.h"
#include "machine/gpu/gpu_topology.h"
#include "machine/gpu/gpu_utilization.h"
#include "run/plan/plan.h"

namespace tandem {
namespace {

const GpuFacts& factsOf(int ordinal) { return cudaFacts().gpus.at(static_cast<size_t>(ordinal)); }

void resolveGpus(RunPlan& plan, const std::vector<int>& ordinals) {
  for (const int ordinal : ordinals) plan.deviceLabels.push_back(Device::cuda(ordinal).label());
  plan.cudaDevices = ordinals;
  plan.gpuLinkLines = linkLines(gpuLinks(), ordinals);
  plan.link = pathsAmong(gpuLinks(), ordinals);
  const auto uses = readGpuUse(probedGpus(ordinals));
  for (size_t i = 0; i < ordinals.size(); ++i) {
    if (const std::string refusal = exclusionOf(factsOf(ordinals[i]), uses[i]); !refusal.empty()) {
      throw UsageError(refusal);
    }
  }
}

int64_t leastFreeBytes(const std::vector<int>& ordinals) {
  const auto uses = readGpuUse(probedGpus(ordinals));
  int64_t least = std::numeric_limits<int64_t>::max();
  for (size_t i = 0; i < ordinals.size(); ++i) least = std::min(least, freeBytes(factsOf(ordinals[i]), uses[i]));
  return least;
}

/// Throws UsageError if --devices names a set of cores that is not there.
void checkIndices(const Config& config, const Topology& topology, int64_t ranksHere) {
  int64_t threads = 0;
  for (const Core& core : topology.cores) threads += std::ssize(core.threads);
  threads /= ranksHere;
  const bool named = !parseDeviceSet(config.placement.devices).value().indices.empty();
  if (!named || config.placement.oversubscribe || cpuDevices(config) <= threads) return;
  throw UsageError(concat("--devices=", config.placement.devices, ": a CPU device has a core or more, and ", threads,
                          threads == 1 ? " is" : " are", " usable by a rank here; use indices up to ", threads - 1,
                          ", or add --oversubscribe (replicas then share cores)"));
}

/// The devices of a rank of this host, by their place among those of all its ranks.
std::vector<int> indicesOnHost(const Config& config, int localRank) {
  std::vector<int> indices = deviceIndices(config);
  for (int& index : indices) index += localRank * static_cast<int>(cpuDevices(config));
  return indices;
}

void resolveCores(RunPlan& plan) {
  const Config& config = plan.config;
  const Topology topology = readTopology();
  checkIndices(config, topology, plan.place.localSize);
  const CorePlan all = planCores(topology, cpuDevices(config) * plan.place.localSize, config.placement.coresPerReplica,
                                 config.placement.oversubscribe);
  std::vector<int> onHost;
  for (int rank = 0; rank < plan.place.localSize; ++rank) {
    const std::vector<int> ofRank = indicesOnHost(config, rank);
    onHost.insert(onHost.end(), ofRank.begin(), ofRank.end());
  }
  plan.cores = chosenCores(all, indicesOnHost(config, plan.place.localRank));
  plan.hostCores = chosenCores(all, onHost);
  for (size_t i = 0; i < onHost.size(); ++i) {
    const auto device = Device::cpu(onHost[i], plan.hostCores.threadsOf[i], plan.cores.threadsPerReplica);
    plan.deviceLabels.push_back(device.label());
  }
  if (onHost.size() > 1) plan.link = sharedBy(plan.hostCores.threadsOf);
}

}  // namespace

void resolveDevices(RunPlan& plan) {
  if (plan.setup.onCpu()) {
    resolveCores(plan);
  } else {
    resolveGpus(plan, deviceIndices(plan.config));
  }
  plan.availableBytes = availableBytesNow(plan);
}

int64_t availableBytesNow(const RunPlan& plan) {
  return plan.setup.onCpu() ? Device::cpu(0, {}, 1).availableBytes() : leastFreeBytes(plan.cudaDevices);
}

}  // namespace tandem
