#include "run/plan/kernel_cores.h"

#include <algorithm>

#include "machine/cpu/topology.h"

namespace tandem {
namespace {

/// The cores of the plan's replicas on this host, or those of more replicas like its own: as many as fit, on cores if
/// its own are.
CorePlan coresFor(const RunPlan& plan, int64_t asked) {
  const Topology machine = readTopology();
  const int64_t fit = std::ssize(machine.cores) / plan.hostCores.threadsPerReplica;
  const int64_t replicas = plan.hostCores.unit == "core" ? std::min(asked, fit) : asked;
  if (replicas <= kernelReplicas(plan)) return plan.hostCores;
  CorePlan more = planCores(machine, replicas, plan.config.placement.coresPerReplica, /*oversubscribe=*/true);
  const bool alike = more.unit == plan.hostCores.unit && more.threadsPerReplica == plan.hostCores.threadsPerReplica;
  return alike ? more : plan.hostCores;
}

}  // namespace

int64_t kernelReplicas(const RunPlan& plan) { return std::ssize(replicasApart(plan.hostCores)); }

KernelCores kernelCores(const RunPlan& plan) {
  const int64_t asked = plan.config.numerics.kernelReplicas;
  const CorePlan cores = coresFor(plan, asked);
  KernelCores found{.devices = {}, .threads = cores.threadsPerReplica, .cpus = {}};
  for (const size_t i : replicasApart(cores)) {
    if (asked > 0 && std::ssize(found.devices) == asked) break;
    const std::vector<int>& threads = cores.threadsOf[i];
    found.devices.push_back(Device::onCores(static_cast<int>(i), cores, i));
    found.cpus.insert(found.cpus.end(), threads.begin(), threads.end());
  }
  return found;
}

}  // namespace tandem
