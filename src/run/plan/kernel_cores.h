#pragma once

#include <vector>

#include "device/device.h"
#include "run/plan/plan.h"

namespace tandem {

/// Where kernels are measured on a CPU: replicas that compute at once, each on cores of its own.
struct KernelCores {
  std::vector<Device> devices;
  int64_t threads = 1;    ///< of each
  std::vector<int> cpus;  ///< hardware threads of all
};

/// Those of --kernel-replicas replicas like the plan's, as far as the machine has cores for them. If it is 0, those of
/// the plan's own replicas on this host that share no cores. REQUIRES: a plan for a CPU.
KernelCores kernelCores(const RunPlan& plan);

/// Replicas that compute at once where kernels are measured for this plan alone.
int64_t kernelReplicas(const RunPlan& plan);

}  // namespace tandem
