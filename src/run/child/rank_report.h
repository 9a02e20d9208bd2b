#pragma once

#include <span>
#include <string>

#include "measure/record/record.h"
#include "trace/flight_recorder.h"

namespace tandem {

/// How a rank's part of a run ended, as its parent saw it.
enum class RankEnd {
  finished,  ///< with a record of a measured run
  failed,    ///< it says why, and blames no other rank
  lost,      ///< its process ended without a word
  stood,     ///< it did not move for the timeout, and was killed
  blames,    ///< it says that another rank failed
  ended,     ///< by its parent, because others had failed
};

struct RankReport {
  int rank = 0;
  std::string host;
  int64_t process = 0;  ///< its id
  RankEnd end = RankEnd::finished;
  double after = 0;      ///< seconds from the begin of the run to this end
  bool stopped = false;  ///< by SIGSTOP or a debugger, when it was looked at last
  bool waited = false;   ///< it did nothing for most of the timeout in the midst of a step
  ProcessFlight flight;  ///< what it did last
  RunRecord record;      ///< what is known of the run; its outcome is this rank's

  bool operator==(const RankReport&) const = default;
};

/// One JSON object, for other hosts.
std::string toText(const RankReport& report);
/// Throws DataError or InternalError if the text is none.
RankReport reportFromText(const std::string& text);

/// "rank 2 (node1, pid 77)".
std::string nameOf(const RankReport& report);

/// "in phase backward of step 7", "while connecting".
std::string whereText(const ProcessFlight& flight);

/// The outcome of a run of several ranks: ok if all finished. Else that of the rank which failed first by itself; it
/// names rank, host, process, step and phase. If ranks only waited for one another, it names the one that did not
/// arrive, and at which collective. `timeoutSeconds`: how long they waited. REQUIRES: a report of at least one rank.
Outcome outcomeOf(std::span<const RankReport> reports, double timeoutSeconds);

/// The record of all ranks, with that outcome. REQUIRES: reports in the order of ranks.
RunRecord recordOf(std::span<const RankReport> reports, double timeoutSeconds);

}  // namespace tandem
