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

void resolveGpus(RunPlan& plan, const std::vector<int>& ordinals) {
  for (const int ordinal : ordinals) plan.deviceLabels.push_back(Device::cuda(ordinal).label());
  const auto uses = readGpuUse(probedGpus(ordinals));
  plan.cudaDevices = ordinals;
  plan.gpuLinkLines = linkLines(gpuLinks(), ordinals);
  plan.availableBytes = std::numeric_limits<int64_t>::max();
  for (size_t i = 0; i < ordinals.size(); ++i) {
    const GpuFacts& gpu = cudaFacts().gpus.at(static_cast<size_t>(ordinals[i]));
    if (const std::string refusal = exclusionOf(gpu, uses[i]); !refusal.empty()) throw UsageError(refusal);
    plan.availableBytes = std::min(plan.availableBytes, freeBytes(gpu, uses[i]));
  }
}

void resolveCores(RunPlan& plan) {
  const Config& config = plan.config;
  plan.cores = planCores(readTopology(), config.replicas, config.coresPerReplica, config.oversubscribe);
  for (int index = 0; index < config.replicas; ++index) {
    const auto device =
        Device::cpu(index, plan.cores.threadsOf.at(static_cast<size_t>(index)), plan.cores.threadsPerReplica);
    plan.deviceLabels.push_back(device.label());
    plan.availableBytes = device.availableBytes();
  }
}

}  // namespace

void resolveDevices(RunPlan& plan) {
  if (plan.setup.onCpu()) {
    resolveCores(plan);
  } else {
    resolveGpus(plan, parseDeviceSet(plan.config.devices).value().cuda);
  }
}

}  // namespace tandem
