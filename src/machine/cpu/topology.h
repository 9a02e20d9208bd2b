#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace tandem {

/// A physical core that this process may use, with its usable hardware threads (operating-system indices).
struct Core {
  int index = 0;  ///< hwloc's logical index
  int numaNode = 0;
  std::vector<int> threads;
};

/// The usable set: hwloc's allowed set, cut by this process's affinity mask and capped by the cgroup's CPU limit.
/// Ordered so that neighbours share caches and NUMA node. Reads the machine; no tensor, no OpenMP.
struct Topology {
  std::vector<Core> cores;
  int64_t sockets = 0, numaNodes = 0, hardwareThreads = 0;  ///< of the machine, as far as this process may see it
  std::vector<std::string> caches;                          ///< "L1d 48 KiB", "L2 2 MiB", "L3 105 MiB"
  double cgroupCpus = 0;                                    ///< CPU limit of the cgroup in CPUs; 0: none
};

Topology readTopology();

/// Keeps as many hardware threads as a limit of `cpus` CPUs pays for (at least one; 0: all): whole cores before second
/// threads of a core.
std::vector<Core> capCores(std::vector<Core> cores, double cpus);

/// Which hardware threads each replica is pinned to.
struct CorePlan {
  std::vector<std::vector<int>> threadsOf;  ///< per replica
  std::vector<int> nodeOf;                  ///< NUMA node of each replica's first thread
  int64_t threadsPerReplica = 1;            ///< size of its OpenMP team
  bool shared = false;                      ///< replicas share cores
  std::string unit;                         ///< "core" or "hardware thread"
};

/// Gives `replicas` replicas `coresPerReplica` cores each (0: the cores divided among them), neighbours together and
/// where possible on one NUMA node, one hardware thread of each core; all hardware threads count only when there are
/// fewer cores than replicas. When they do not fit, replicas share cores if `oversubscribe`, else throws UsageError.
CorePlan planCores(const Topology&, int64_t replicas, int64_t coresPerReplica, bool oversubscribe);

/// Replicas that share no core with one of a lower number in it: they compute at once, each at its full speed.
std::vector<size_t> replicasApart(const CorePlan& plan);

/// Pins the calling thread. Throws InternalError when the system refuses.
void pinThread(const std::vector<int>& hardwareThreads);

}  // namespace tandem
