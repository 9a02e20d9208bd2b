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

/// The devices of a rank of this host, by their place among those of all its ranks.
std::vector<int> indicesOnHost(const Config& config, int localRank) {
  std::vector<int> indices = deviceIndices(config);
  for (int& index : indices) index += localRank * static_cast<int>(devicesOfRank(config));
  return indices;
}

/// Those of all ranks of this host.
std::vector<int> indicesOfRanks(const RunPlan& plan) {
  std::vector<int> all;
  for (int rank = 0; rank < plan.place.localSize; ++rank) {
    const std::vector<int> ofRank = indicesOnHost(plan.config, rank);
    all.insert(all.end(), ofRank.begin(), ofRank.end());
  }
  return all;
}

const GpuFacts& factsOf(int ordinal) { return cudaFacts().gpus.at(static_cast<size_t>(ordinal)); }

/// Throws UsageError if a rank of this host has a GPU that is not there.
void checkOrdinals(const RunPlan& plan, const std::vector<int>& ordinals) {
  const auto visible = std::ssize(cudaFacts().gpus);
  const int last = std::ranges::max(ordinals);
  if (last < visible || plan.place.localSize == 1) return;  // of a rank alone, Device::cuda() says more
  throw UsageError(concat("--devices=", plan.config.placement.devices, " with ", plan.place.localSize,
                          " ranks on this host, each with the next of them: cuda:", last, " is needed, and ", visible,
                          visible == 1 ? " GPU is" : " GPUs are",
                          " visible; start fewer ranks, or let the launcher "
                          "show all GPUs to each rank"));
}

void resolveGpus(RunPlan& plan) {
  const std::vector<int> ordinals = indicesOfRanks(plan);
  checkOrdinals(plan, ordinals);
  for (const int ordinal : ordinals) plan.deviceLabels.push_back(Device::cuda(ordinal).label());
  plan.cudaDevices = indicesOnHost(plan.config, plan.place.localRank);
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
  if (!named || config.placement.oversubscribe || devicesOfRank(config) <= threads) return;
  throw UsageError(concat("--devices=", config.placement.devices, ": a CPU device has a core or more, and ", threads,
                          threads == 1 ? " is" : " are", " usable by a rank here; use indices up to ", threads - 1,
                          ", or add --oversubscribe (replicas then share cores)"));
}

void resolveCores(RunPlan& plan) {
  const Config& config = plan.config;
  const Topology topology = readTopology();
  checkIndices(config, topology, plan.place.localSize);
  const CorePlan all = planCores(topology, devicesOfRank(config) * plan.place.localSize,
                                 config.placement.coresPerReplica, config.placement.oversubscribe);
  const std::vector<int> onHost = indicesOfRanks(plan);
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
    resolveGpus(plan);
  }
  plan.availableBytes = availableBytesNow(plan);
}

int64_t availableBytesNow(const RunPlan& plan) {
  return plan.setup.onCpu() ? Device::cpu(0, {}, 1).availableBytes() : leastFreeBytes(plan.cudaDevices);
}

}  // namespace tandem
