#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>

#include "comm/rank_place.h"

namespace tandem {

/// The environment's name of the network interface between hosts.
inline constexpr const char* interfaceVariable = "GLOO_SOCKET_IFNAME";

/// The value of an environment variable, if it is set. A command's option that stands for a variable, as for
/// MASTER_ADDR, is handed in as that variable.
using Variables = std::function<std::optional<std::string>(const std::string& name)>;

/// The variables of this process. No thread may change them meanwhile.
Variables variablesOfProcess();

/// This process as one of several that a launcher started.
struct LaunchedRank {
  RankPlace place;
  std::string launcher;  ///< "tandem launch", "torchrun", "Open MPI", "Slurm", or "RANK and WORLD_SIZE" set by hand
  bool launcherServes = false;  ///< whether the launcher serves the store where ranks meet; else rank 0 has to
};

/// The place that a launcher gave this process among others. Empty where none did, or where it started this one alone.
/// The innermost launcher counts: torchrun and `tandem launch`, then Open MPI, then a step of Slurm, then RANK and
/// WORLD_SIZE alone. A script of sbatch is no step.
///
/// The ranks meet at MASTER_ADDR and MASTER_PORT. Without them: on loopback where all ranks are on this host, else on
/// the first host of the step of Slurm, at a port that all ranks derive from the number of the job. They exchange
/// through GLOO_SOCKET_IFNAME.
///
/// Sources: torch/distributed/elastic/agent/server/local_elastic_agent.py, "Environment variables set for MPI
/// applications" of Open MPI, "Output environment variables" of srun(1).
///
/// Throws UsageError that names the variables, their values and the rule, where they contradict each other, are
/// incomplete, or are no numbers.
std::optional<LaunchedRank> rankPlaceFromEnvironment(const Variables& variables);

/// How often the launcher has started the ranks again; 0 without a launcher that does.
int64_t attemptOfLauncher(const Variables& variables);

/// The variables that torchrun would set for a rank whose launcher serves the store: rankPlaceFromEnvironment() reads
/// the same place from them, with another run for each attempt. `run` is that of a `tandem launch` if it begins with
/// ownRunPrefix.
std::map<std::string, std::string> variablesOfRank(const RankPlace& place, int64_t attempt = 0);
inline constexpr const char* ownRunPrefix = "tandem-";

}  // namespace tandem
