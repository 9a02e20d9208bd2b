#include "machine/cpu/topology.h"

#include <hwloc.h>
#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstring>
#include <memory>
#include <set>
#include <utility>

#include "base/error.h"
#include "base/text.h"
#include "machine/cpu/cgroup.h"

namespace tandem {
namespace {

constexpr int maxThreads = 8192;

struct CpuSetDelete {
  void operator()(cpu_set_t* set) const { CPU_FREE(set); }
};
using CpuSet = std::unique_ptr<cpu_set_t, CpuSetDelete>;

CpuSet emptySet() {
  CpuSet set(CPU_ALLOC(maxThreads));
  CPU_ZERO_S(CPU_ALLOC_SIZE(maxThreads), set.get());
  return set;
}

struct TopologyDestroy {
  void operator()(hwloc_topology* topology) const { hwloc_topology_destroy(topology); }
};
using Machine = std::unique_ptr<hwloc_topology, TopologyDestroy>;

Machine loadMachine() {
  hwloc_topology_t raw = nullptr;
  check(hwloc_topology_init(&raw) == 0, "hwloc_topology_init");
  Machine machine(raw);
  check(hwloc_topology_load(raw) == 0, "hwloc_topology_load");
  return machine;
}

/// What hwloc says of the machine, which it reads once in the life of the process: it opens hundreds of files.
hwloc_topology_t thisMachine() {
  static const Machine machine = loadMachine();
  return machine.get();
}

// Affinity mask of the main thread. Replicas narrow their own masks, so a replica's thread would see too few CPUs.
std::vector<bool> affinityMask() {
  CpuSet set = emptySet();
  const size_t size = CPU_ALLOC_SIZE(maxThreads);
  check(sched_getaffinity(getpid(), size, set.get()) == 0, "sched_getaffinity");
  std::vector<bool> mask(maxThreads);
  for (int thread = 0; thread < maxThreads; ++thread) mask[thread] = CPU_ISSET_S(thread, size, set.get());
  return mask;
}

std::vector<int> usableThreads(hwloc_const_cpuset_t of, hwloc_const_cpuset_t allowed, const std::vector<bool>& mask) {
  std::vector<int> threads;
  for (int thread = hwloc_bitmap_first(of); thread >= 0; thread = hwloc_bitmap_next(of, thread)) {
    if (thread < maxThreads && mask[thread] && hwloc_bitmap_isset(allowed, thread)) threads.push_back(thread);
  }
  return threads;
}

int lastCacheOf(hwloc_topology_t machine, hwloc_obj_t core) {
  for (const auto level : {HWLOC_OBJ_L3CACHE, HWLOC_OBJ_L2CACHE}) {
    const hwloc_obj* const cache = hwloc_get_ancestor_obj_by_type(machine, level, core);
    if (cache != nullptr) return static_cast<int>(cache->logical_index);
  }
  return 0;
}

// Returns cores in logical order, which is tree order: neighbours share caches and NUMA node. Some virtual machines
// have no core level.
std::vector<Core> usableCores(hwloc_topology_t machine) {
  const std::vector<bool> mask = affinityMask();
  const hwloc_const_cpuset_t allowed = hwloc_topology_get_allowed_cpuset(machine);
  const auto level = hwloc_get_nbobjs_by_type(machine, HWLOC_OBJ_CORE) > 0 ? HWLOC_OBJ_CORE : HWLOC_OBJ_PU;
  std::vector<Core> cores;
  for (hwloc_obj_t object = nullptr; (object = hwloc_get_next_obj_by_type(machine, level, object));) {
    auto threads = usableThreads(object->cpuset, allowed, mask);
    if (threads.empty()) continue;
    const int node = object->nodeset ? hwloc_bitmap_first(object->nodeset) : 0;
    cores.push_back(
        {static_cast<int>(object->logical_index), std::max(node, 0), std::move(threads), lastCacheOf(machine, object)});
  }
  check(!cores.empty(), "hwloc shows no core that this process may use");
  return cores;
}

std::vector<std::string> cacheTexts(hwloc_topology_t machine) {
  constexpr std::pair<hwloc_obj_type_t, const char*> levels[] = {
      {HWLOC_OBJ_L1CACHE, "L1d "}, {HWLOC_OBJ_L2CACHE, "L2 "}, {HWLOC_OBJ_L3CACHE, "L3 "}, {HWLOC_OBJ_L4CACHE, "L4 "}};
  std::vector<std::string> texts;
  for (const auto& [type, name] : levels) {
    const hwloc_obj* const cache = hwloc_get_obj_by_type(machine, type, 0);
    if (cache && cache->attr->cache.size > 0) {
      texts.push_back(name + bytesText(static_cast<double>(cache->attr->cache.size)));
    }
  }
  return texts;
}

struct BitmapFree {
  void operator()(hwloc_bitmap_s* bitmap) const { hwloc_bitmap_free(bitmap); }
};
using Bitmap = std::unique_ptr<hwloc_bitmap_s, BitmapFree>;

constexpr std::string_view wholeMachine = "machine";

/// The name in sharedBy() of an object of hwloc's tree; empty: it is none of these parts. The object that memory hangs
/// on is a NUMA node.
std::string_view partName(const hwloc_obj& object) {
  constexpr std::pair<hwloc_obj_type_t, std::string_view> parts[] = {
      {HWLOC_OBJ_PU, "core"},    {HWLOC_OBJ_CORE, "core"},  {HWLOC_OBJ_L1CACHE, "core"},
      {HWLOC_OBJ_L2CACHE, "L2"}, {HWLOC_OBJ_L3CACHE, "L3"}, {HWLOC_OBJ_L4CACHE, "L4"}};
  const auto part = std::ranges::find(parts, object.type, &std::pair<hwloc_obj_type_t, std::string_view>::first);
  if (part != std::end(parts)) return part->second;
  if (object.memory_arity > 0) return "NUMA node";
  if (object.type == HWLOC_OBJ_PACKAGE) return "socket";
  return object.type == HWLOC_OBJ_MACHINE ? wholeMachine : std::string_view();
}

/// The name of the smallest part that holds all hardware threads of `set`.
std::string smallestPart(hwloc_topology_t machine, hwloc_const_cpuset_t set) {
  const hwloc_obj* object = hwloc_get_obj_covering_cpuset(machine, set);
  while (object != nullptr && partName(*object).empty()) object = object->parent;
  return std::string(object == nullptr ? wholeMachine : partName(*object));
}

using Groups = std::vector<std::vector<int>>;

// Consecutive groups of `size` units, each within one NUMA node. Empty if they do not all fit that way.
Groups groupsWithinNodes(const std::vector<std::pair<int, int>>& units, int64_t count, int64_t size) {
  Groups groups;
  for (size_t first = 0; first < units.size() && std::ssize(groups) < count;) {
    size_t end = first;
    while (end < units.size() && end - first < static_cast<size_t>(size) && units[end].second == units[first].second) {
      ++end;
    }
    if (end - first == static_cast<size_t>(size)) {
      groups.emplace_back();
      for (size_t unit = first; unit < end; ++unit) groups.back().push_back(units[unit].first);
    }
    first = end;
  }
  if (std::ssize(groups) < count) groups.clear();
  return groups;
}

Groups groupsInTurn(const std::vector<std::pair<int, int>>& units, int64_t count, int64_t size) {
  Groups groups(static_cast<size_t>(count));
  size_t next = 0;
  for (auto& group : groups) {
    for (int64_t i = 0; i < size; ++i) group.push_back(units[next++ % units.size()].first);
  }
  return groups;
}

// (operating-system index, NUMA node) of one thread per core, or of all threads.
std::vector<std::pair<int, int>> unitsOf(const std::vector<Core>& cores, bool allThreads) {
  std::vector<std::pair<int, int>> units;
  for (const Core& core : cores) {
    const size_t count = allThreads ? core.threads.size() : 1;
    for (size_t i = 0; i < count; ++i) units.emplace_back(core.threads[i], core.numaNode);
  }
  return units;
}

/// The part of the machine that the first thread of each group belongs to.
std::vector<int> partsOf(const Groups& groups, const std::vector<Core>& cores, int Core::*part) {
  std::vector<int> parts;
  for (const auto& group : groups) {
    const auto holds = [&](const Core& core) { return std::ranges::count(core.threads, group.front()) > 0; };
    parts.push_back((*std::ranges::find_if(cores, holds)).*part);
  }
  return parts;
}

std::string tooManyReplicas(int64_t replicas, int64_t each, int64_t usable, const std::string& unit) {
  const std::string available = concat("only ", usable, " ", unit, usable == 1 ? " is" : "s are", " usable here");
  const std::string remedy = "add --oversubscribe (replicas then share cores)";
  if (each == 1) return concat("--replicas=", replicas, ": ", available, "; lower it or ", remedy);
  return concat("--replicas=", replicas, " with --cores-per-replica=", each, " need ", replicas * each, " ", unit,
                "s: ", available, "; lower one of them or ", remedy);
}

}  // namespace

std::vector<Core> capCores(std::vector<Core> cores, double cpus) {
  if (cpus <= 0) return cores;
  // Rounded down: one thread more than the limit pays for would throttle all of them.
  const size_t limit = std::max<size_t>(1, static_cast<size_t>(std::floor(cpus)));
  if (cores.size() > limit) cores.resize(limit);
  size_t spare = limit - cores.size();
  for (Core& core : cores) {
    const size_t keep = 1 + std::min(spare, core.threads.size() - 1);
    core.threads.resize(keep);
    spare -= keep - 1;
  }
  return cores;
}

Topology readTopology() {
  const hwloc_topology_t machine = thisMachine();
  Topology topology;
  topology.cgroupCpus = Cgroup().cpus();
  topology.cores = capCores(usableCores(machine), topology.cgroupCpus);
  topology.sockets = std::max(1, hwloc_get_nbobjs_by_type(machine, HWLOC_OBJ_PACKAGE));
  topology.numaNodes = std::max(1, hwloc_get_nbobjs_by_type(machine, HWLOC_OBJ_NUMANODE));
  topology.hardwareThreads = hwloc_get_nbobjs_by_type(machine, HWLOC_OBJ_PU);
  topology.caches = cacheTexts(machine);
  return topology;
}

CorePlan planCores(const Topology& topology, int64_t replicas, int64_t coresPerReplica, bool oversubscribe) {
  if (replicas < 1) throw UsageError(concat("--replicas=", replicas, ": must be 1 or more"));
  if (coresPerReplica < 0) throw UsageError(concat("--cores-per-replica=", coresPerReplica, ": must be 0 or more"));
  const auto cores = unitsOf(topology.cores, false), threads = unitsOf(topology.cores, true);
  const bool byThread = std::ssize(cores) < replicas && std::ssize(threads) > std::ssize(cores);
  int64_t each = coresPerReplica > 0 ? coresPerReplica : std::max<int64_t>(1, std::ssize(cores) / replicas);
  CorePlan plan;
  plan.shared = replicas * each > std::ssize(byThread ? threads : cores);
  plan.unit = byThread && !plan.shared ? "hardware thread" : "core";
  const auto& units = byThread && !plan.shared ? threads : cores;
  if (plan.shared && !oversubscribe) {
    const auto& most = byThread ? threads : cores;
    throw UsageError(tooManyReplicas(replicas, each, std::ssize(most), byThread ? "hardware thread" : "core"));
  }
  each = std::min(each, std::ssize(units));
  plan.threadsPerReplica = each;
  if (!plan.shared) plan.threadsOf = groupsWithinNodes(units, replicas, each);
  if (plan.threadsOf.empty()) plan.threadsOf = groupsInTurn(units, replicas, each);
  plan.nodeOf = partsOf(plan.threadsOf, topology.cores, &Core::numaNode);
  plan.cacheOf = partsOf(plan.threadsOf, topology.cores, &Core::cache);
  return plan;
}

CorePlan chosenCores(const CorePlan& all, std::span<const int> indices) {
  CorePlan chosen = all;
  chosen.threadsOf.clear(), chosen.nodeOf.clear(), chosen.cacheOf.clear();
  for (const int index : indices) {
    chosen.threadsOf.push_back(all.threadsOf.at(static_cast<size_t>(index)));
    chosen.nodeOf.push_back(all.nodeOf.at(static_cast<size_t>(index)));
    chosen.cacheOf.push_back(all.cacheOf.at(static_cast<size_t>(index)));
  }
  return chosen;
}

std::string sharedBy(const std::vector<std::vector<int>>& threadsOf) {
  const hwloc_topology_t machine = thisMachine();
  const Bitmap all(hwloc_bitmap_alloc());
  for (const auto& threads : threadsOf) {
    for (const int thread : threads) hwloc_bitmap_set(all.get(), static_cast<unsigned>(thread));
  }
  return smallestPart(machine, all.get());
}

std::vector<std::vector<std::string>> sharedByPairs(std::span<const int> threads) {
  const hwloc_topology_t machine = thisMachine();
  const Bitmap pair(hwloc_bitmap_alloc());
  std::vector<std::vector<std::string>> shared(threads.size());
  for (size_t i = 0; i < threads.size(); ++i) {
    for (const int other : threads) {
      hwloc_bitmap_only(pair.get(), static_cast<unsigned>(threads[i]));
      hwloc_bitmap_set(pair.get(), static_cast<unsigned>(other));
      shared[i].push_back(smallestPart(machine, pair.get()));
    }
  }
  return shared;
}

std::vector<size_t> replicasApart(const CorePlan& plan) {
  std::set<int> taken;
  std::vector<size_t> apart;
  for (size_t i = 0; i < plan.threadsOf.size(); ++i) {
    const std::vector<int>& threads = plan.threadsOf[i];
    if (std::ranges::any_of(threads, [&](int thread) { return taken.contains(thread); })) continue;
    taken.insert(threads.begin(), threads.end());
    apart.push_back(i);
  }
  return apart;
}

void pinThread(const std::vector<int>& hardwareThreads) {
  CpuSet set = emptySet();
  const size_t size = CPU_ALLOC_SIZE(maxThreads);
  for (const int thread : hardwareThreads) CPU_SET_S(static_cast<size_t>(thread), size, set.get());
  if (sched_setaffinity(0, size, set.get()) != 0) {
    const int error = errno;
    std::vector<std::string> names;
    for (const int thread : hardwareThreads) names.push_back(std::to_string(thread));
    throw InternalError(concat("pinning a thread to hardware threads ", join(names), ": ", std::strerror(error)));
  }
}

}  // namespace tandem
