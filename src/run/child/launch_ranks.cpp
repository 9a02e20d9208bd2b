#include "run/child/launch_ranks.h"

#include <sys/wait.h>

#include <algorithm>
#include <array>
#include <csignal>
#include <cstring>
#include <iomanip>
#include <memory>
#include <random>
#include <span>
#include <sstream>

#include "base/error.h"
#include "base/log.h"
#include "base/text.h"
#include "comm/listener.h"
#include "comm/rank_environment.h"
#include "comm/world.h"
#include "machine/cpu/host_facts.h"
#include "machine/process/process_team.h"

namespace tandem {
namespace {

/// What a rank says of itself, not of another.
constexpr std::array typedCodes{ExitCode::usage,   ExitCode::data,    ExitCode::checkpoint,        ExitCode::rendezvous,
                                ExitCode::numeric, ExitCode::storage, ExitCode::invalidMeasurement};

ExitCode classOf(int status) {
  if (!WIFEXITED(status)) return ExitCode::peer;
  const auto row = std::ranges::find(typedCodes, static_cast<ExitCode>(WEXITSTATUS(status)));
  return row != typedCodes.end() ? *row : ExitCode::peer;
}

bool blamesAnother(int status) {
  return WIFEXITED(status) && static_cast<ExitCode>(WEXITSTATUS(status)) == ExitCode::peer;
}

std::string signalText(int signal) {
  const char* const name = sigabbrev_np(signal);
  return name == nullptr ? concat("signal ", signal) : concat("signal ", signal, ", SIG", name);
}

std::string endText(int status) {
  if (!WIFEXITED(status)) {
    const int signal = WTERMSIG(status);
    const char* const likely = signal == SIGKILL ? ", by another program or because memory ran out" : "";
    return concat("was killed by ", signalText(signal), likely);
  }
  const auto code = static_cast<ExitCode>(WEXITSTATUS(status));
  const bool known = code == ExitCode::peer || code == ExitCode::interrupted || classOf(status) == code;
  return concat("ended with exit code ", WEXITSTATUS(status), known ? concat(" (", nameOf(code), ")") : "",
                "; its own message says why");
}

/// "rank 2 (host, pid 123)".
std::string rankText(const MemberEnd& rank) {
  return concat("rank ", rank.member, " (", hostName(), ", pid ", rank.id, ')');
}

/// A rank that ended well before the others can be why they failed.
const MemberEnd* firstDone(const TeamEnd& end) {
  const auto ended = std::ranges::find(end.ends, 0, &MemberEnd::status);
  const auto failed = std::ranges::find(end.ends, end.cause->member, &MemberEnd::member);
  return ended < failed ? &*ended : nullptr;
}

std::string failureText(const TeamEnd& end, int ranks) {
  const MemberEnd& cause = *end.cause;
  std::string text = concat(rankText(cause), ' ', endText(cause.status));
  if (blamesAnother(cause.status)) {
    if (!end.stopped.empty()) {
      text = concat(rankText(end.stopped.front()), " was stopped, by SIGSTOP or a debugger, and ", text);
    } else if (const MemberEnd* done = firstDone(end)) {
      text = concat(rankText(*done), " ended with exit code 0 before the others, and ", text);
    }
  }
  return ranks == 1 ? text : concat(text, "; the other ranks were ended");
}

/// No two launches have the same.
std::string freshRun() {
  std::random_device random;
  std::ostringstream out;
  out << ownRunPrefix << std::hex << std::setfill('0');
  for (int i = 0; i < 4; ++i) out << std::setw(8) << random();
  return out.str();
}

TeamOptions teamOf(const RankLaunch& launch, const std::vector<std::string>& environment, int port,
                   const std::string& run, int attempt) {
  TeamOptions team{.blamesAnother = blamesAnother};
  for (int rank = 0; rank < launch.ranks; ++rank) {
    const auto variables = variablesOfRank(placeOnOneHost(rank, launch.ranks, port, run), attempt);
    team.members.push_back({.executable = launch.executable,
                            .arguments = launch.arguments,
                            .environment = withVariables(environment, variables),
                            .input = {},
                            .output = rank == 0 ? ChildOutput::passed : ChildOutput::captured});
    team.prefixes.push_back(concat("[rank ", rank, "] "));
  }
  return team;
}

/// Runs the ranks once, with a store of their own.
TeamEnd attemptLaunch(const RankLaunch& launch, const std::vector<std::string>& environment, int attempt) {
  const std::string run = freshRun();
  const auto store = serveRanks(loopbackListener(), run);
  return superviseTeam(teamOf(launch, environment, store->port(), run, attempt));
}

/// "; attempt 1: ...; attempt 2: ...", of all but the last.
std::string attemptsText(std::span<const std::string> causes) {
  std::string text;
  for (size_t i = 0; i < causes.size(); ++i) text += concat("; attempt ", i + 1, ": ", causes[i]);
  return text;
}

}  // namespace

void launchRanks(const RankLaunch& launch) {
  check(launch.ranks >= 1 && launch.ranks <= mostLaunchedRanks, "number of ranks to launch");
  const auto environment = processEnvironment();  // before c10d adds variables of its own
  std::vector<std::string> causes;
  for (int attempt = 0;; ++attempt) {
    const TeamEnd end = attemptLaunch(launch, environment, attempt);
    if (end.signal != 0 && !end.cause) {
      throw Error(ExitCode::interrupted, concat("interrupted by ", signalText(end.signal), "; all ranks have ended"));
    }
    if (!end.cause) return;
    const ExitCode code = classOf(end.cause->status);
    const std::string text = failureText(end, launch.ranks);
    const bool again = code == ExitCode::peer && end.signal == 0 && attempt < launch.maxRestarts;
    if (!again) throw Error(code, text + attemptsText(causes));
    causes.push_back(text);
    logWarning(concat(text, "; restart ", attempt + 1, " of ", launch.maxRestarts));
  }
}

}  // namespace tandem
