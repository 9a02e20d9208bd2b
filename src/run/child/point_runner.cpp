#include "run/child/point_runner.h"

#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <optional>

#include "base/log.h"
#include "base/text.h"
#include "machine/cpu/host_facts.h"
#include "machine/process/child_process.h"
#include "machine/process/resource_limits.h"
#include "run/child/worker_protocol.h"
#include "run/outcome_of_exception.h"
#include "run/start_record.h"

namespace tandem {
namespace {

std::atomic<bool> stopWanted{false};
static_assert(std::atomic<bool>::is_always_lock_free);

constexpr double endGraceSeconds = 10;
constexpr int pollMillis = 100, limitedPollMillis = 10;

/// What the worker has sent so far.
struct Received {
  std::optional<RunRecord> start, record;
  std::string partialLine;
  int64_t peakResident = 0;  ///< bytes; read only if there is a limit
};

enum class Ending { closed, deadline, stopped, overLimit, unreadable };

/// Reads what has arrived and passes whole lines on. False if the worker has closed its end.
bool readSome(int descriptor, Received& received, const WorkerEvents& events) {
  char buffer[1 << 16];
  const ssize_t count = read(descriptor, buffer, sizeof buffer);
  if (count < 0) return errno == EINTR || errno == EAGAIN;
  std::string& text = received.partialLine;
  text.append(buffer, static_cast<size_t>(count));
  size_t begin = 0;
  for (size_t end = text.find('\n'); end != std::string::npos; end = text.find('\n', begin)) {
    readLine(text.substr(begin, end - begin), events);
    begin = end + 1;
  }
  text.erase(0, begin);
  return count > 0;
}

/// Peak resident set of a process so far; 0 if it has ended. The kernel keeps it, so no peak between two polls is lost.
int64_t peakResidentBytes(pid_t process) { return memoryField(textOf(concat("/proc/", process, "/status")), "VmHWM"); }

Ending listen(const ChildProcess& child, const PointOptions& options, Received& received, const PointEvents& events) {
  const WorkerEvents handlers{.start = [&](RunRecord record) { received.start = std::move(record); },
                              .progress = events.progress,
                              .warning = logWarning,
                              .record = [&](RunRecord record) { received.record = std::move(record); }};
  const Nanos begin = now();
  pollfd waited{.fd = child.output(), .events = POLLIN, .revents = 0};
  const bool limited = options.memoryLimit > 0;
  for (;;) {
    if (stopWanted.load()) return Ending::stopped;
    if (seconds(now() - begin) >= options.deadlineSeconds) return Ending::deadline;
    if (limited) received.peakResident = std::max(received.peakResident, peakResidentBytes(child.id()));
    if (limited && received.peakResident > options.memoryLimit) return Ending::overLimit;
    if (poll(&waited, 1, limited ? limitedPollMillis : pollMillis) > 0 && !readSome(child.output(), received, handlers))
      return Ending::closed;
  }
}

/// A worker that writes an invalid line makes its run fail, but must not end the sweep.
Ending listenReadably(const ChildProcess& child, const PointOptions& options, Received& received,
                      const PointEvents& events) {
  try {
    return listen(child, options, received, events);
  } catch (const Error&) {
    return Ending::unreadable;
  }
}

Outcome failure(ExitCode code, std::string reason) { return {OutcomeKind::failed, code, std::move(reason)}; }

ExitCode knownCode(int status) {
  const auto code = static_cast<ExitCode>(status);
  const bool known = code != ExitCode::ok && nameOf(code) != std::string_view(nameOf(ExitCode::internal));
  return known ? code : ExitCode::internal;
}

/// How often the system has ended a process because memory ran out; empty if it does not say.
std::optional<int64_t> outOfMemoryKills() {
  static constexpr std::string_view name = "oom_kill ";
  for (const std::string& line : split(textOf("/proc/vmstat"), "\n")) {
    if (line.starts_with(name)) return wholeNumber(line.substr(name.size()));
  }
  return std::nullopt;
}

/// How a worker ended.
struct End {
  int status;
  double cpuSeconds;
  std::optional<bool> outOfMemory;  ///< whether the system ended a process meanwhile because memory ran out, if it says
};

Outcome killed(const End& end, const Config& config) {
  if (end.outOfMemory == false) {
    return failure(ExitCode::peer, "the run was killed by another program (signal 9, SIGKILL); start it again");
  }
  const char* const surely = end.outOfMemory ? "out of memory: the system killed the run (signal 9, SIGKILL)"
                                             : "the run was killed, probably out of memory (signal 9, SIGKILL)";
  Outcome outcome = failure(ExitCode::usage, concat(surely, memoryAdvice(config)));
  outcome.outOfMemory = true;
  return outcome;
}

Outcome outcomeOfEnd(const End& end, const Config& config) {
  const int signal = WIFSIGNALED(end.status) ? WTERMSIG(end.status) : 0;
  if (signal == SIGXCPU || (signal == SIGKILL && end.cpuSeconds > mostCpuSeconds() - 1)) {
    return failure(ExitCode::usage,
                   concat("the run took its CPU time, ", fixed(end.cpuSeconds, 1), " s (ulimit -t); raise it"));
  }
  if (signal == SIGKILL) return killed(end, config);
  if (signal != 0) {
    return failure(ExitCode::internal, concat("the run crashed: signal ", signal, ", SIG", sigabbrev_np(signal), " (",
                                              sigdescr_np(signal), ")"));
  }
  const int code = WEXITSTATUS(end.status);
  return failure(knownCode(code), concat("the run ended with exit code ", code, " before its result; see its message"));
}

Outcome outcomeOf(Ending ending, const End& end, double deadline, const Config& config) {
  if (ending == Ending::stopped) return failure(ExitCode::interrupted, "interrupted");
  if (ending == Ending::deadline) {
    return failure(ExitCode::invalidMeasurement,
                   concat("the run missed its deadline of ", deadline, " s and was killed; raise --point-deadline"));
  }
  if (ending == Ending::unreadable) return failure(ExitCode::internal, "the run reported what cannot be read");
  return outcomeOfEnd(end, config);
}

}  // namespace

RunRecord PointRunner::run(const Config& config, const PointOptions& options, const PointEvents& events) const {
  const WorkerOrder order{.config = config, .sweepBegin = sweepBegin_};
  ChildProcess child(
      {.executable = executable_, .arguments = {"worker"}, .environment = workerEnvironment(), .input = toText(order)});
  Received received;
  const Nanos begin = now();
  const std::optional<int64_t> killsBefore = outOfMemoryKills();
  const Ending ending = listenReadably(child, options, received, events);
  if (ending != Ending::closed) child.kill();
  const int status = child.wait(endGraceSeconds);
  End end{status, child.cpuSeconds(), {}};
  if (killsBefore) end.outOfMemory = outOfMemoryKills() > killsBefore;
  // The record has the peak of the whole run, which the last poll may have missed.
  if (received.record) received.peakResident = std::max(received.peakResident, received.record->peakMemoryBytes);
  const bool tooMuch = options.memoryLimit > 0 && received.peakResident > options.memoryLimit;
  if (received.record && !tooMuch) return std::move(*received.record);
  RunRecord record = received.start ? std::move(*received.start) : startRecord(config);
  record.outcome =
      tooMuch ? overLimit(options.memoryLimit, config) : outcomeOf(ending, end, options.deadlineSeconds, config);
  record.wall = now() - begin;
  return record;
}

void PointRunner::requestStop() noexcept { stopWanted.store(true); }
bool PointRunner::stopRequested() noexcept { return stopWanted.load(); }

}  // namespace tandem
