#include "comm/rank_environment.h"

#include <algorithm>
#include <cstdlib>
#include <span>
#include <vector>

#include "base/error.h"
#include "base/number.h"
#include "base/text.h"
#include "comm/slurm_lists.h"

namespace tandem {
namespace {

constexpr int64_t mostRanks = 1'000'000;
constexpr const char *address = "MASTER_ADDR", *port = "MASTER_PORT", *runId = "TORCHELASTIC_RUN_ID",
                     *restarts = "TORCHELASTIC_RESTART_COUNT", *agentStore = "TORCHELASTIC_USE_AGENT_STORE";
constexpr const char* byHand = "RANK and WORLD_SIZE";
constexpr const char* remedy = "correct what sets them, or unset them";

using Names = std::vector<std::string>;

/// The variables from which a launcher's ranks know their place.
struct PlaceNames {
  const char *rank, *size, *localRank, *localSize;
  Names all() const { return {rank, size, localRank, localSize}; }
};
constexpr PlaceNames torch{"RANK", "WORLD_SIZE", "LOCAL_RANK", "LOCAL_WORLD_SIZE"};
constexpr PlaceNames openMpi{"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_LOCAL_RANK",
                             "OMPI_COMM_WORLD_LOCAL_SIZE"};

class Reader {
 public:
  explicit Reader(const Variables& variables) : variables_(variables) {}

  /// Empty too where it is set to an empty text.
  std::string text(const std::string& name) const { return variables_(name).value_or(""); }
  bool has(const std::string& name) const { return !text(name).empty(); }
  bool hasAny(const Names& names) const {
    return std::ranges::any_of(names, [&](const std::string& name) { return has(name); });
  }
  bool hasAll(const Names& names) const {
    return std::ranges::all_of(names, [&](const std::string& name) { return has(name); });
  }

  /// The first of the names that is set, else the last.
  std::string oneOf(const Names& names) const {
    const auto found = std::ranges::find_if(names, [&](const std::string& name) { return has(name); });
    return found != names.end() ? *found : names.back();
  }

  int number(const std::string& name, int64_t low, int64_t high) const {
    if (!has(name)) refuse({name}, "it is needed beside those that are set");
    const auto value = numberWithin(text(name), low, high);
    if (!value) refuse({name}, concat("must be a whole number from ", low, " to ", high));
    return static_cast<int>(*value);
  }
  int rank(const std::string& name) const { return number(name, 0, mostRanks - 1); }
  int size(const std::string& name) const { return number(name, 1, mostRanks); }

  /// Throws UsageError: "RANK=4, WORLD_SIZE unset: RULE; what to do".
  [[noreturn]] void refuse(const Names& names, const std::string& rule, const std::string& toDo = remedy) const {
    std::vector<std::string> shown;
    for (const auto& name : names) shown.push_back(has(name) ? concat(name, '=', text(name)) : concat(name, " unset"));
    throw UsageError(concat(join(shown), ": ", rule, "; ", toDo));
  }

 private:
  const Variables& variables_;
};

void checkPlace(const Reader& reader, const Names& names, const RankPlace& place) {
  if (place.rank >= place.size) reader.refuse(names, "a rank must be below the number of ranks");
  if (place.localRank >= place.localSize) {
    reader.refuse(names, "a rank on its host must be below the number of ranks on that host");
  }
  if (place.localSize > place.size) reader.refuse(names, "a host cannot have more ranks than there are");
}

RankPlace placeFrom(const Reader& reader, const PlaceNames& names) {
  if (!reader.hasAll(names.all())) reader.refuse(names.all(), "all four must be set");
  RankPlace place{.rank = reader.rank(names.rank),
                  .size = reader.size(names.size),
                  .localRank = reader.rank(names.localRank),
                  .localSize = reader.size(names.localSize)};
  checkPlace(reader, names.all(), place);
  return place;
}

/// The same for equal texts, and below the ports that a system hands out itself (ip_local_port_range). FNV-1a.
int portFrom(std::string_view job) {
  constexpr uint32_t first = 16384, ports = 16384;
  uint32_t hash = 2166136261U;
  for (const char c : job) hash = (hash ^ static_cast<unsigned char>(c)) * 16777619U;
  return static_cast<int>(first + hash % ports);
}

/// What a launcher says of the place where ranks meet, if MASTER_ADDR and MASTER_PORT do not. Empty: nothing.
struct Meeting {
  std::string firstHost{}, job{};
};

void setMeeting(RankPlace& place, const Reader& reader, const Meeting& known) {
  place.host = reader.text(address);
  if (place.host.empty()) place.host = place.localSize == place.size ? loopback : known.firstHost;
  if (place.host.empty()) {
    reader.refuse({address}, concat(place.size, " ranks on several hosts, ", place.localSize, " of them here"),
                  "set it on all ranks to the address of the host of rank 0");
  }
  if (!reader.has(port) && known.job.empty()) {
    reader.refuse({address, port}, "ranks need a port where they meet",
                  "set MASTER_PORT on all ranks to a port that is free on the host of rank 0");
  }
  place.port = reader.has(port) ? reader.number(port, 1, lastPort) : portFrom(known.job);
  if (!known.job.empty()) place.run = known.job;
  place.interface = reader.text(interfaceVariable);
}

/// What a user set beside a launcher must be what the launcher says.
void checkAgrees(const Reader& reader, const RankPlace& place, const Names& launchers) {
  const std::pair<const char*, int> known[] = {{torch.rank, place.rank},
                                               {torch.size, place.size},
                                               {torch.localRank, place.localRank},
                                               {torch.localSize, place.localSize}};
  for (const auto& [name, value] : known) {
    if (!reader.has(name) || reader.rank(name) == value) continue;
    Names both{name};
    both.insert(both.end(), launchers.begin(), launchers.end());
    reader.refuse(both, concat("two launchers disagree on ", name, ", which is ", value, " by the second"),
                  "unset those of the one that did not start this process");
  }
}

bool servesStore(const Reader& reader) {
  if (!reader.has(agentStore)) return false;
  const std::string value = lowered(reader.text(agentStore));
  if (value != "true" && value != "false") reader.refuse({agentStore}, "must be True or False");
  return value == "true";
}

std::string runOfTorch(const Reader& reader) {
  const std::string id = reader.text(runId), count = reader.text(restarts);
  return count.empty() || count == "0" ? id : concat(id, " restart ", count);
}

LaunchedRank fromTorchrun(const Reader& reader) {
  LaunchedRank found{.place = placeFrom(reader, torch),
                     .launcher = reader.text(runId).starts_with(ownRunPrefix) ? "tandem launch" : "torchrun",
                     .launcherServes = servesStore(reader)};
  if (found.place.size > 1) setMeeting(found.place, reader, {});
  found.place.run = runOfTorch(reader);
  return found;
}

LaunchedRank fromOpenMpi(const Reader& reader) {
  LaunchedRank found{.place = placeFrom(reader, openMpi), .launcher = "Open MPI"};
  if (found.place.size == 1) return found;
  checkAgrees(reader, found.place, openMpi.all());
  const std::string job = reader.text(reader.oneOf({"PMIX_NAMESPACE", "OMPI_MCA_ess_base_jobid"}));
  setMeeting(found.place, reader, {.job = job.empty() ? "" : concat("mpi ", job)});
  return found;
}

/// A script of sbatch, a shell of salloc and what watches a job have numbers of steps too, the largest of 32 bits.
bool isStepOfSlurm(const Reader& reader) {
  constexpr int64_t firstSpecial = 0xfffffff0, mostSteps = 0xffffffff;
  const std::string name = reader.oneOf({"SLURM_STEP_ID", "SLURM_STEPID"});
  if (!reader.has(name)) return false;
  const auto number = numberWithin(reader.text(name), 0, mostSteps);
  if (!number) reader.refuse({name}, "must be the number of a step");
  return *number < firstSpecial;
}

int localSizeOfSlurm(const Reader& reader, const Names& names, const std::string& list, int ranks) {
  const int64_t node = reader.rank("SLURM_NODEID");
  const auto nodes = tasksPerNode(reader.text(list));
  if (nodes.empty()) reader.refuse({list}, "must be the tasks of each node, as 2(x3),1");
  int64_t nodesBefore = 0, tasks = 0, here = 0;
  for (const NodeTasks& each : nodes) {
    if (node >= nodesBefore && node < nodesBefore + each.count) here = each.tasks;
    nodesBefore += each.count;
    tasks += each.tasks * each.count;
  }
  if (here == 0) reader.refuse({"SLURM_NODEID", list}, concat("this node is none of ", nodesBefore));
  if (tasks != ranks) reader.refuse(names, concat("the tasks of all nodes are ", tasks, ", not ", ranks));
  return static_cast<int>(here);
}

LaunchedRank fromSlurm(const Reader& reader) {
  const std::string size = reader.oneOf({"SLURM_STEP_NUM_TASKS", "SLURM_NTASKS"}),
                    list = reader.oneOf({"SLURM_STEP_TASKS_PER_NODE", "SLURM_TASKS_PER_NODE"}),
                    hosts = reader.oneOf({"SLURM_STEP_NODELIST", "SLURM_NODELIST"}),
                    job = reader.oneOf({"SLURM_JOB_ID", "SLURM_JOBID"}),
                    step = reader.oneOf({"SLURM_STEP_ID", "SLURM_STEPID"});
  const Names names{"SLURM_PROCID", size, "SLURM_LOCALID", "SLURM_NODEID", list};
  LaunchedRank found{.place = {.rank = reader.rank("SLURM_PROCID"), .size = reader.size(size)}, .launcher = "Slurm"};
  RankPlace& place = found.place;
  if (place.size == 1) return found;
  if (!reader.hasAll(names)) reader.refuse(names, "a step of several tasks sets all of them");
  place.localRank = reader.rank("SLURM_LOCALID");
  place.localSize = localSizeOfSlurm(reader, names, list, place.size);
  checkPlace(reader, names, place);
  checkAgrees(reader, place, names);
  if (!reader.has(job)) reader.refuse({job, step}, "a step belongs to a job");
  const std::string first = firstHost(reader.text(hosts));
  if (first.empty() && reader.has(hosts)) reader.refuse({hosts}, "must be a list of hosts, as node[01-04,7]");
  setMeeting(place, reader, {.firstHost = first, .job = concat("slurm ", reader.text(job), '.', reader.text(step))});
  return found;
}

/// What PyTorch calls env://. Where all ranks meet on loopback, they are on one host.
std::optional<LaunchedRank> fromHand(const Reader& reader) {
  if (!reader.hasAny(torch.all()) && !reader.has(runId)) return std::nullopt;
  if (!reader.hasAll({torch.rank, torch.size})) {
    reader.refuse(
        {torch.rank, torch.size}, "both must be set for a rank of several",
        concat("set both, or unset ", reader.oneOf({torch.rank, torch.size, torch.localRank, torch.localSize, runId})));
  }
  RankPlace place{.rank = reader.rank(torch.rank), .size = reader.size(torch.size)};
  place.localSize = place.size;
  place.localRank = place.rank;
  if (reader.hasAny({torch.localRank, torch.localSize})) {
    place = placeFrom(reader, torch);
  } else if (place.size > 1 && !isLoopback(reader.text(address))) {
    reader.refuse(torch.all(), "a rank needs its place among those of its host",
                  "set LOCAL_RANK and LOCAL_WORLD_SIZE; they are 0 and 1 for a rank that is alone on its host");
  }
  checkPlace(reader, {torch.rank, torch.size}, place);
  if (place.size > 1) setMeeting(place, reader, {});
  return LaunchedRank{.place = place, .launcher = byHand};
}

std::optional<LaunchedRank> launched(const Reader& reader) {
  if (reader.hasAll({runId, torch.localSize})) return fromTorchrun(reader);
  std::optional<LaunchedRank> found;
  if (reader.hasAny({openMpi.rank, openMpi.size})) {
    found = fromOpenMpi(reader);
  } else if (isStepOfSlurm(reader)) {
    found = fromSlurm(reader);
  }
  return found && found->place.size > 1 ? found : fromHand(reader);
}

}  // namespace

Variables variablesOfProcess() {
  return [](const std::string& name) -> std::optional<std::string> {
    const char* const value = std::getenv(name.c_str());
    return value == nullptr ? std::nullopt : std::optional<std::string>(value);
  };
}

std::optional<LaunchedRank> rankPlaceFromEnvironment(const Variables& variables) {
  auto found = launched(Reader(variables));
  return found && found->place.size > 1 ? found : std::nullopt;
}

int64_t attemptOfLauncher(const Variables& variables) {
  return numberWithin(variables(restarts).value_or("0"), 0, mostRanks).value_or(0);
}

std::map<std::string, std::string> variablesOfRank(const RankPlace& place, int64_t attempt) {
  return {{torch.rank, std::to_string(place.rank)},
          {torch.size, std::to_string(place.size)},
          {torch.localRank, std::to_string(place.localRank)},
          {torch.localSize, std::to_string(place.localSize)},
          {address, place.host},
          {port, std::to_string(place.port)},
          {runId, place.run},
          {restarts, std::to_string(attempt)},
          {agentStore, "True"}};
}

}  // namespace tandem
