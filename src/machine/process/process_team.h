#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "machine/process/child_process.h"

namespace tandem {

/// How long members of a team have to end, in seconds, before what follows.
struct TeamTimes {
  double patience = 0.5;    ///< for the one that failed, after one that blames another: all are told to end
  double afterFailure = 2;  ///< after SIGTERM: they are killed
  double afterSignal = 10;  ///< after a signal to this process, which they got too: they are killed
};

struct TeamOptions {
  std::vector<ChildOptions> members{};
  std::vector<std::string> prefixes{};                                 ///< of each member's lines if it is captured
  std::function<bool(int)> blamesAnother = [](int) { return false; };  ///< whether a status says that another failed
  TeamTimes times{};
};

/// How a member ended.
struct MemberEnd {
  size_t member = 0;
  pid_t id = -1;
  int status = 0;  ///< of waitpid(2)
};

/// How a team ended.
struct TeamEnd {
  std::vector<MemberEnd> ends;  ///< of all members, in their order in time
  /// The first that ended badly, by exit code or signal, before the team was told to end. One that blames another
  /// counts only if no other failed.
  std::optional<MemberEnd> cause;
  std::vector<MemberEnd> stopped;  ///< members that did not run, by SIGSTOP or a debugger, when it was told to end
  int signal = 0;                  ///< the first signal that told this process to end; 0: none
};

/// Runs processes that need each other until all have ended. When one ends badly, the others get SIGTERM, then SIGKILL.
/// SIGINT, SIGTERM and SIGHUP of this process are handed on once; one that comes later kills them. What captured
/// members write becomes lines on standard error. It sleeps while nothing happens.
///
/// Members that are this program end when this process does. Throws UsageError if a limit of this process forbids so
/// many, InternalError if the system refuses otherwise; those that were started are killed then. One team at a time,
/// on the thread that calls it.
TeamEnd superviseTeam(const TeamOptions& options);

}  // namespace tandem
