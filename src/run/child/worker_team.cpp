#include "run/child/worker_team.h"

#include <poll.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <utility>

#include "base/log.h"
#include "base/text.h"
#include "machine/cpu/host_facts.h"
#include "run/child/worker_process.h"
#include "run/outcome_of_exception.h"

namespace tandem {
namespace {

constexpr double endGraceSeconds = 10;
constexpr double othersGraceSeconds = 1.5;  // in which the other ranks may end by themselves when one has failed
constexpr int pollMillis = 100, limitedPollMillis = 10;

enum class Ending { closed, deadline, stopped, overLimit };

/// How often the system has ended a process because memory ran out; empty if it does not say.
std::optional<int64_t> outOfMemoryKills() {
  static constexpr std::string_view name = "oom_kill ";
  for (const std::string& line : split(textOf("/proc/vmstat"), "\n")) {
    if (line.starts_with(name)) return wholeNumber(line.substr(name.size()));
  }
  return std::nullopt;
}

Outcome failure(ExitCode code, std::string reason) { return {OutcomeKind::failed, code, std::move(reason)}; }

/// Whether a worker has ended, or is to be ended, without a good record.
bool failed(const std::unique_ptr<WorkerProcess>& worker) {
  return !worker->record() || worker->record()->outcome.kind != OutcomeKind::ok;
}

/// The workers of one point, one a rank of this process.
class Workers {
 public:
  Workers(const std::string& executable, const WorkerOrder& order, std::span<const RankPlace> places,
          const PointEvents& events);

  /// Listens until all have ended, or until they must.
  Ending listen(const PointOptions& options);
  /// Kills those that still run, and waits for all.
  void end();

  int64_t peakResident() const;
  bool askedToEnd() const { return asked_; }
  bool allFinished() const { return std::ranges::none_of(workers_, failed); }
  /// REQUIRES: end() returned.
  std::vector<RankReport> reports() const;

 private:
  void pollOnce(int millis);
  bool allClosed() const { return std::ranges::none_of(workers_, &WorkerProcess::open); }
  /// Gives up workers that do not move any more, although others wait for them.
  void killThoseThatStand();
  /// Whether they are to be killed because a stop was requested. Those that train are asked to end first.
  bool mustStop();
  void noteFailure() {
    if (!firstFailure_) firstFailure_ = now();
  }

  const Config config_;
  const std::vector<RankPlace> places_;
  std::vector<std::unique_ptr<WorkerProcess>> workers_;
  Nanos lookedAt_ = now();
  std::optional<Nanos> firstFailure_;  // of a worker
  bool asked_ = false;                 // to end
  const std::optional<int64_t> killsBefore_ = outOfMemoryKills();
  std::optional<bool> outOfMemory_;
};

Workers::Workers(const std::string& executable, const WorkerOrder& order, std::span<const RankPlace> places,
                 const PointEvents& events)
    : config_(order.config), places_(places.begin(), places.end()) {
  for (const RankPlace& place : places_) {
    WorkerOrder own = order;
    own.place = place;
    const ProgressCallback progress = place.rank == 0 ? events.progress : nullptr;
    workers_.push_back(std::make_unique<WorkerProcess>(
        executable, own, WorkerEvents{.start = {}, .progress = progress, .warning = logWarning, .record = {}}));
  }
}

void Workers::pollOnce(int millis) {
  std::vector<pollfd> waited;
  std::vector<size_t> ranks;
  for (size_t rank = 0; rank < workers_.size(); ++rank) {
    if (!workers_[rank]->open()) continue;
    waited.push_back({.fd = workers_[rank]->descriptor(), .events = POLLIN, .revents = 0});
    ranks.push_back(rank);
  }
  if (poll(waited.data(), waited.size(), millis) <= 0) return;
  for (size_t i = 0; i < waited.size(); ++i) {
    WorkerProcess& worker = *workers_[ranks[i]];
    if (waited[i].revents != 0) worker.read();
    if (!worker.open() && failed(workers_[ranks[i]])) noteFailure();
  }
}

void Workers::killThoseThatStand() {
  constexpr double between = 0.2, margin = 0.3;  // seconds; whoever waits notices first
  if (places_.front().size == 1 || seconds(now() - lookedAt_) < between) return;
  lookedAt_ = now();
  for (const auto& worker : workers_) {
    if (!worker->open() || !worker->standsFor(config_.exchange.timeout + margin)) continue;
    worker->kill();
    noteFailure();
  }
}

bool Workers::mustStop() {
  const int requests = PointRunner::stopRequests();
  const bool trains = config_.training.epochs > 0;
  if (requests == 0 || !trains) return requests > 0;
  if (requests > 1) return true;
  if (!std::exchange(asked_, true)) {
    for (const auto& worker : workers_) worker->askToEnd();
  }
  return false;
}

Ending Workers::listen(const PointOptions& options) {
  const bool limited = options.memoryLimit > 0;
  for (const Nanos begin = now(); !allClosed();) {
    if (mustStop()) return Ending::stopped;
    if (seconds(now() - begin) >= options.deadlineSeconds) return Ending::deadline;
    if (firstFailure_ && seconds(now() - *firstFailure_) >= othersGraceSeconds) return Ending::closed;
    for (const auto& worker : workers_) {
      if (limited) worker->readMemory();
    }
    if (limited && peakResident() > options.memoryLimit) return Ending::overLimit;
    killThoseThatStand();
    pollOnce(limited ? limitedPollMillis : pollMillis);
  }
  return Ending::closed;
}

void Workers::end() {
  for (const auto& worker : workers_) {
    if (worker->open()) worker->kill();
  }
  for (const auto& worker : workers_) worker->wait(endGraceSeconds);
  if (killsBefore_) outOfMemory_ = outOfMemoryKills() > killsBefore_;
}

int64_t Workers::peakResident() const {
  int64_t sum = 0;
  for (const auto& worker : workers_) sum += worker->peakResident();
  return sum;
}

std::vector<RankReport> Workers::reports() const {
  std::vector<RankReport> reports;
  for (size_t i = 0; i < workers_.size(); ++i) {
    reports.push_back(workers_[i]->report(places_[i], config_, outOfMemory_));
  }
  return reports;
}

/// Why the run was ended from outside; empty: it was not, or was measured before.
std::optional<Outcome> outcomeFromOutside(Ending ending, const Workers& workers, const PointOptions& options,
                                          const Config& config) {
  if (options.memoryLimit > 0 && workers.peakResident() > options.memoryLimit)
    return overLimit(options.memoryLimit, config);
  if (workers.allFinished()) return std::nullopt;
  if (ending == Ending::stopped || workers.askedToEnd()) return failure(ExitCode::interrupted, "interrupted");
  if (ending != Ending::deadline) return std::nullopt;
  return failure(ExitCode::invalidMeasurement, concat("the run missed its deadline of ", options.deadlineSeconds,
                                                      " s and was killed; raise --point-deadline"));
}

}  // namespace

std::vector<RankReport> runWorkers(const std::string& executable, const WorkerOrder& order,
                                   std::span<const RankPlace> places, const PointOptions& options,
                                   const PointEvents& events) {
  Workers workers(executable, order, places, events);
  const Ending ending = workers.listen(options);
  workers.end();
  std::vector<RankReport> reports = workers.reports();
  const auto fromOutside = outcomeFromOutside(ending, workers, options, order.config);
  if (!fromOutside) return reports;
  for (RankReport& report : reports) {
    report.end = RankEnd::failed;
    report.record.outcome = *fromOutside;
  }
  return reports;
}

}  // namespace tandem
