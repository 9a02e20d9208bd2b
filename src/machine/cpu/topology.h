#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace tandem {

/// A physical core that this process may use, with its usable hardware threads (operating-system indices).
struct Core {
  int index = 0;  ///< hwloc's logical index
  int numaNode = 0;
  std::vector<int> threads;
  int cache = 0;  ///< hwloc's logical index of its L3, or of its L2 where there is no L3; 0: it has neither
};

/// The usable part of the machine: hwloc's allowed set within this process's affinity mask, capped by the cgroup's CPU
/// limit. Neighbours in the order of `cores` share caches and NUMA node.
struct Topology {
  std::vector<Core> cores;
  int64_t sockets = 0, numaNodes = 0, hardwareThreads = 0;  ///< of the machine, as far as this process can see it
  std::vector<std::string> caches;                          ///< "L1d 48 KiB", "L2 2 MiB", "L3 105 MiB"
  double cgroupCpus = 0;                                    ///< CPU limit of the cgroup in CPUs; 0: none
};

/// Reads the mask and the limit as they are now. What the machine is it reads once in the life of the process.
Topology readTopology();

/// Keeps as many hardware threads as a limit of `cpus` CPUs allows, at least one; 0 keeps all. It keeps whole cores
/// before second threads of a core.
std::vector<Core> capCores(std::vector<Core> cores, double cpus);

/// The hardware threads that each replica is pinned to.
struct CorePlan {
  std::vector<std::vector<int>> threadsOf;  ///< by replica
  std::vector<int> nodeOf;                  ///< NUMA node of each replica's first thread
  std::vector<int> cacheOf;                 ///< Core::cache likewise
  int64_t threadsPerReplica = 1;            ///< size of its OpenMP team
  bool shared = false;                      ///< replicas share cores
  std::string unit;                         ///< "core" or "hardware thread"
};

/// Gives `coresPerReplica` cores to each of `replicas` replicas; 0 divides all cores among them. A replica's cores are
/// neighbours, on one NUMA node if possible, and it uses one hardware thread of each. If there are fewer cores than
/// replicas, hardware threads take the place of cores. If they do not suffice, replicas share cores with
/// `oversubscribe`; otherwise this throws UsageError.
CorePlan planCores(const Topology&, int64_t replicas, int64_t coresPerReplica, bool oversubscribe);

/// The plan of the replicas with these indices, in this order. REQUIRES: `all` has them.
CorePlan chosenCores(const CorePlan& all, std::span<const int> indices);

/// The smallest part of the machine that holds all these hardware threads: "core", "L2", "L3", "NUMA node", "socket" or
/// "machine".
std::string sharedBy(const std::vector<std::vector<int>>& threadsOf);

/// The same for each two of these hardware threads: [i][j] is what threads[i] and threads[j] share. Reads the machine
/// once.
std::vector<std::vector<std::string>> sharedByPairs(std::span<const int> threads);

/// Replicas that share no core with a lower-numbered replica of the result. They can compute at the same time, each at
/// full speed.
std::vector<size_t> replicasApart(const CorePlan& plan);

/// Pins the calling thread. Throws InternalError if the system refuses.
void pinThread(const std::vector<int>& hardwareThreads);

}  // namespace tandem
