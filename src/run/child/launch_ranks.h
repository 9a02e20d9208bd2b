#pragma once

#include <string>
#include <vector>

namespace tandem {

/// The most processes of one host that launchRanks() starts.
constexpr int mostLaunchedRanks = 1024;

/// What the processes of a run are.
struct RankLaunch {
  std::string executable;              ///< path of this program
  std::vector<std::string> arguments;  ///< of each process, without the program's name
  int ranks = 1;
  int maxRestarts = 0;  ///< how often all ranks are started again after one was lost
};

/// Runs processes of this program as the ranks of one run on this host, until all have ended, and serves the store
/// where they meet. Each gets the variables that torchrun would set (variablesOfRank in comm/rank_environment.h).
///
/// Output of rank 0 is that of this process. What other ranks write stands on standard error behind "[rank 1] ". When
/// one fails, or this process is told to end, all end (machine/process/process_team.h). All end with this process.
///
/// A rank is lost where its failure would be of the code `peer`. Then all are started again, as another run, until
/// there were maxRestarts. Ranks of a run before are refused (serveRanks()).
///
/// Throws the failure that came first in the last attempt, and says how those before ended, with the rank's exit code
/// if that is one of usage to invalidMeasurement, else PeerError; Error of `interrupted` if this process was told to
/// end; UsageError if a limit of this process forbids so many processes. REQUIRES: at least one rank, at most
/// mostLaunchedRanks.
void launchRanks(const RankLaunch& launch);

}  // namespace tandem
