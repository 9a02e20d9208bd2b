#include "engine/replica_devices.h"

#include <algorithm>

#include "base/error.h"
#include "config/device_set.h"
#include "device/device.h"
#include "engine/gpu_facts.h"
#include "engine/plan.h"

namespace tandem {
namespace {

void resolveGpus(RunPlan& plan, const std::vector<int>& ordinals) {
  for (const int ordinal : ordinals) plan.deviceLabels.push_back(Device::cuda(ordinal).label());
  const auto gpus = gpuFacts();
  plan.cudaDevices = ordinals;
  plan.availableBytes = gpus.at(static_cast<size_t>(ordinals.front())).memoryBytes;
  for (const int ordinal : ordinals) {
    plan.availableBytes = std::min(plan.availableBytes, gpus.at(static_cast<size_t>(ordinal)).memoryBytes);
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
  const auto devices = parseDeviceSet(plan.config.devices);
  check(devices.has_value(), "resolveDevices: --devices was not checked");
  if (devices->cpu) {
    resolveCores(plan);
  } else {
    resolveGpus(plan, devices->cuda);
  }
}

}  // namespace tandem
