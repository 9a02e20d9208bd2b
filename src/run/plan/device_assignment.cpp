#include "run/plan/device_assignment.h"

#include <algorithm>
#include <limits>

#include "base/error.h"
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

void resolveCores(RunPlan& plan) {
  const Config& config = plan.config;
  plan.cores = planCores(readTopology(), config.placement.replicas, config.placement.coresPerReplica,
                         config.placement.oversubscribe);
  for (int index = 0; index < config.placement.replicas; ++index) {
    const auto device =
        Device::cpu(index, plan.cores.threadsOf.at(static_cast<size_t>(index)), plan.cores.threadsPerReplica);
    plan.deviceLabels.push_back(device.label());
  }
}

}  // namespace

void resolveDevices(RunPlan& plan) {
  if (plan.setup.onCpu()) {
    resolveCores(plan);
  } else {
    resolveGpus(plan, parseDeviceSet(plan.config.placement.devices).value().cuda);
  }
  plan.availableBytes = availableBytesNow(plan);
}

int64_t availableBytesNow(const RunPlan& plan) {
  return plan.setup.onCpu() ? Device::cpu(0, {}, 1).availableBytes() : leastFreeBytes(plan.cudaDevices);
}

}  // namespace tandem
