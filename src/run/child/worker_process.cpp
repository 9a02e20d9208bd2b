#include "run/child/worker_process.h"

#include <sys/wait.h>

#include <algorithm>
#include <cstring>

#include "base/text.h"
#include "config/device_set.h"
#include "machine/cpu/host_facts.h"
#include "machine/process/resource_limits.h"
#include "machine/process/signals.h"
#include "run/outcome_of_exception.h"
#include "run/start_record.h"

namespace tandem {
namespace {

Outcome failure(ExitCode code, std::string reason) { return {OutcomeKind::failed, code, std::move(reason)}; }

ExitCode knownCode(int status) {
  const auto code = static_cast<ExitCode>(status);
  const bool known = code != ExitCode::ok && nameOf(code) != std::string_view(nameOf(ExitCode::internal));
  return known ? code : ExitCode::internal;
}

std::string textOfSignal(int signal) { return concat("signal ", signal, ", SIG", sigabbrev_np(signal)); }

Outcome endedByOthers(int signal) {
  return failure(ExitCode::peer,
                 concat("the run was killed by another program (", textOfSignal(signal), "); start it again"));
}

Outcome killed(std::optional<bool> outOfMemory, const Config& config) {
  if (outOfMemory == false) return endedByOthers(SIGKILL);
  const char* const surely =
      outOfMemory ? "out of memory: the system killed the run" : "the run was killed, probably out of memory";
  Outcome outcome = failure(ExitCode::usage, concat(surely, " (", textOfSignal(SIGKILL), ')', memoryAdvice(config)));
  outcome.outOfMemory = true;
  return outcome;
}

}  // namespace

WorkerProcess::WorkerProcess(const std::string& executable, const WorkerOrder& order, WorkerEvents events)
    : flight_(servesAlone(order.config, order.place.rank) ? 0 : static_cast<int>(order.config.placement.replicas)),
      child_({.executable = executable,
              .arguments = {"worker"},
              .environment = workerEnvironment(),
              .input = toText(order),
              .shared = flight_.descriptor()}),
      id_(child_.id()),
      events_(std::move(events)) {
  events_.start = [this](RunRecord record) { start_ = std::move(record); };
  events_.record = [this](RunRecord record) { record_ = std::move(record); };
}

void WorkerProcess::read() {
  try {
    open_ = lines_.read(child_.output(), [this](const std::string& line) { readLine(line, events_); });
  } catch (const Error&) {
    kill();
    readable_ = false;
  }
  if (!open_) closed_ = now();
}

void WorkerProcess::readMemory() {
  const std::string status = textOf(concat("/proc/", child_.id(), "/status"));
  peakResident_ = std::max(peakResident_, memoryField(status, "VmHWM"));  // 0 if it has ended
}

void WorkerProcess::kill() {
  stopped_ = isStopped(id_);
  wasKilled_ = true;
  child_.kill();
  open_ = false;
  closed_ = now();
}

bool WorkerProcess::standsFor(double seconds) {
  const ProcessFlight flight = flight_.read();
  const bool inStep =
      std::ranges::any_of(flight.replicas, [](const ReplicaFlight& each) { return !each.span.empty(); });
  const bool watched = flight.stage == Stage::connecting || (flight.stage == Stage::training && inStep);
  if (flight != seen_ || !watched) seen_ = flight, seenAt_ = now();
  const double stand = tandem::seconds(now() - seenAt_);
  if (stand > longestStand_) longestStand_ = stand, standing_ = flight;
  stands_ = stands_ || longestStand_ > seconds;
  return stands_;
}

void WorkerProcess::wait(double graceSeconds) { status_ = child_.wait(graceSeconds); }

int64_t WorkerProcess::peakResident() const {
  return std::max(peakResident_, record_ ? record_->peakMemoryBytes : 0);  // the record's is that of the whole run
}

Outcome WorkerProcess::outcome(const Config& config, std::optional<bool> outOfMemory) const {
  if (!readable_) return failure(ExitCode::internal, "the run reported what cannot be read");
  if (record_) return record_->outcome;
  const int signal = WIFSIGNALED(status_) ? WTERMSIG(status_) : 0;
  if (signal == SIGXCPU || (signal == SIGKILL && child_.cpuSeconds() > mostCpuSeconds() - 1)) {
    return failure(ExitCode::usage,
                   concat("the run took its CPU time, ", fixed(child_.cpuSeconds(), 1), " s (ulimit -t); raise it"));
  }
  if (signal == SIGKILL) return killed(outOfMemory, config);
  if (std::ranges::find(endingSignals, signal) != endingSignals.end()) return endedByOthers(signal);
  if (signal != 0) {
    return failure(ExitCode::internal,
                   concat("the run crashed: ", textOfSignal(signal), " (", sigdescr_np(signal), ")"));
  }
  const int code = WEXITSTATUS(status_);
  return failure(knownCode(code), concat("the run ended with exit code ", code, " before its result; see its message"));
}

RankEnd WorkerProcess::end() const {
  if (stands_) return RankEnd::stood;
  if (record_ && record_->outcome.kind == OutcomeKind::ok) return RankEnd::finished;
  if (record_) return record_->outcome.code == ExitCode::peer ? RankEnd::blames : RankEnd::failed;
  return wasKilled_ && readable_ ? RankEnd::ended : RankEnd::lost;
}

RankReport WorkerProcess::report(const RankPlace& place, const Config& config, std::optional<bool> outOfMemory) const {
  const bool waited = longestStand_ > 0.8 * config.exchange.timeout;
  RankReport report{.rank = place.rank,
                    .host = hostName(),
                    .process = id_,
                    .end = end(),
                    .after = seconds(closed_ - begin_),
                    .stopped = stopped_,
                    .waited = waited,
                    .flight = waited ? standing_ : flight_.read(),
                    .record = record_  ? *record_
                              : start_ ? *start_
                                       : startRecord(config)};
  report.record.outcome = outcome(config, outOfMemory);
  if (report.record.wall == Nanos{}) report.record.wall = closed_ - begin_;
  // What else is lost with a process that crashes is its part of the others' sums.
  const bool crashed = report.end == RankEnd::lost && report.record.outcome.code == ExitCode::internal;
  if (place.size > 1 && crashed) report.record.outcome.code = ExitCode::peer;
  if (report.end == RankEnd::stood) {
    report.record.outcome =
        failure(ExitCode::peer, concat("it did nothing for ", secondsText(config.exchange.timeout), " and was killed"));
  }
  return report;
}

}  // namespace tandem
