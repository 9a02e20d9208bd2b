#pragma once

#include <optional>
#include <string>

#include "machine/process/child_output.h"
#include "machine/process/child_process.h"
#include "run/child/rank_report.h"
#include "run/child/worker_protocol.h"

namespace tandem {

/// A worker as its parent sees it: the child process, and what it has sent so far. One thread uses it.
class WorkerProcess {
 public:
  /// Starts it. Throws as ChildProcess. `events` gets progress and warnings.
  WorkerProcess(const std::string& executable, const WorkerOrder& order, WorkerEvents events);

  int descriptor() const { return child_.output(); }  ///< readable when the worker has sent something, or has ended
  bool open() const { return open_; }                 ///< false: it has closed its end, or was given up

  /// Reads what has arrived and passes whole lines on. A worker that writes what is no line is given up.
  void read();
  /// Reads the peak of its resident set so far. The kernel keeps it, so no peak between two calls is lost.
  void readMemory();
  void kill();  ///< and gives it up
  void askToEnd() { child_.signal(SIGTERM); }

  /// Whether its replicas have done nothing for `seconds` in the midst of a step, or of connecting to other ranks. True
  /// from then on. Call it some times a second.
  bool standsFor(double seconds);

  /// Waits for its end, and kills it after `graceSeconds`.
  void wait(double graceSeconds);

  const std::optional<RunRecord>& record() const { return record_; }  ///< its last one
  const std::optional<RunRecord>& start() const { return start_; }    ///< configuration and environment
  int64_t peakResident() const;  ///< bytes, as far as readMemory() or the record have told
  /// How the worker ended, as the outcome of its run: that of its record, else by the end of its process.
  /// `outOfMemory`: whether the system ended a process meanwhile because memory ran out, if it says. REQUIRES: wait()
  /// returned.
  Outcome outcome(const Config& config, std::optional<bool> outOfMemory) const;
  /// The same with what else is known of it as a rank. REQUIRES: wait() returned.
  RankReport report(const RankPlace& place, const Config& config, std::optional<bool> outOfMemory) const;

 private:
  RankEnd end() const;

  FlightMemory flight_;
  ChildProcess child_;
  const pid_t id_;
  const Nanos begin_ = now();
  ProcessFlight seen_;  // by standsFor(), with the time from which on nothing changed
  Nanos seenAt_ = begin_;
  double longestStand_ = 0;  // s
  ProcessFlight standing_;   // what it did then
  bool stands_ = false, stopped_ = false, wasKilled_ = false;
  Nanos closed_{};  // when it closed its end
  WorkerEvents events_;
  std::optional<RunRecord> start_, record_;
  LineReader lines_;
  bool open_ = true, readable_ = true;
  int64_t peakResident_ = 0;
  int status_ = 0;
};

}  // namespace tandem
