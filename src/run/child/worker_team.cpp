#include "run/child/worker_team.h"

#include <poll.h>

#include <algorithm>
#include <memory>
#include <optional>

#include "base/log.h"
#include "base/text.h"
#include "machine/cpu/host_facts.h"
#include "measure/record/merged_record.h"
#include "run/child/worker_process.h"
#include "run/outcome_of_exception.h"
#include "run/start_record.h"

namespace tandem {
namespace {

constexpr double endGraceSeconds = 10;
constexpr double othersGraceSeconds = 2;  // in which the other ranks may end by themselves when one has failed
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
  /// The first failure that is no consequence of another rank's; ok if there is none. REQUIRES: end() returned.
  Outcome outcome(const Config& config) const;
  /// That of all ranks together. REQUIRES: the outcome is ok.
  RunRecord record() const;
  /// What is known of a run that failed.
  RunRecord started(const Config& config) const;

 private:
  void pollOnce(int millis);
  bool allClosed() const { return closed_.size() == workers_.size(); }
  /// "rank 2: "; empty where there is one rank.
  std::string nameOf(size_t worker) const {
    return places_[worker].size > 1 ? concat("rank ", places_[worker].rank, ": ") : "";
  }

  const std::vector<RankPlace> places_;
  std::vector<std::unique_ptr<WorkerProcess>> workers_;
  std::vector<size_t> closed_;         // workers that ended by themselves, in this order
  std::optional<Nanos> firstFailure_;  // when the first of these failed
  const std::optional<int64_t> killsBefore_ = outOfMemoryKills();
  std::optional<bool> outOfMemory_;
};

Workers::Workers(const std::string& executable, const WorkerOrder& order, std::span<const RankPlace> places,
                 const PointEvents& events)
    : places_(places.begin(), places.end()) {
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
    if (worker.open()) continue;
    closed_.push_back(ranks[i]);
    if (!firstFailure_ && failed(workers_[ranks[i]])) firstFailure_ = now();
  }
}

Ending Workers::listen(const PointOptions& options) {
  const bool limited = options.memoryLimit > 0;
  for (const Nanos begin = now(); !allClosed();) {
    if (PointRunner::stopRequested()) return Ending::stopped;
    if (seconds(now() - begin) >= options.deadlineSeconds) return Ending::deadline;
    if (firstFailure_ && seconds(now() - *firstFailure_) >= othersGraceSeconds) return Ending::closed;
    for (const auto& worker : workers_) {
      if (limited) worker->readMemory();
    }
    if (limited && peakResident() > options.memoryLimit) return Ending::overLimit;
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

Outcome Workers::outcome(const Config& config) const {
  if (std::ranges::none_of(workers_, failed)) return {};
  std::vector<Outcome> outcomes;
  for (const size_t worker : closed_) {
    outcomes.push_back(workers_[worker]->outcome(config, outOfMemory_));
    outcomes.back().reason = nameOf(worker) + outcomes.back().reason;
  }
  const Outcome* const cause = causeAmong(outcomes);
  return cause != nullptr ? *cause : failure(ExitCode::internal, "the run was ended");
}

RunRecord Workers::record() const {
  std::vector<RunRecord> records;
  for (const auto& worker : workers_) records.push_back(worker->record().value());
  return mergedRecord(std::move(records));
}

RunRecord Workers::started(const Config& config) const {
  const WorkerProcess& first = *workers_.front();
  if (first.record()) return *first.record();
  return first.start() ? *first.start() : startRecord(config);
}

Outcome outcomeOf(Ending ending, const Workers& workers, const PointOptions& options, const Config& config) {
  if (options.memoryLimit > 0 && workers.peakResident() > options.memoryLimit)
    return overLimit(options.memoryLimit, config);
  Outcome outcome = workers.outcome(config);
  if (outcome.kind == OutcomeKind::ok) return outcome;  // it was measured before it was stopped
  if (ending == Ending::stopped) return failure(ExitCode::interrupted, "interrupted");
  if (ending == Ending::deadline) {
    return failure(ExitCode::invalidMeasurement, concat("the run missed its deadline of ", options.deadlineSeconds,
                                                        " s and was killed; raise --point-deadline"));
  }
  return outcome;
}

}  // namespace

const Outcome* causeAmong(std::span<const Outcome> outcomes) {
  const Outcome* first = nullptr;
  for (const Outcome& outcome : outcomes) {
    if (outcome.kind == OutcomeKind::ok) continue;
    if (outcome.code != ExitCode::peer) return &outcome;
    if (first == nullptr) first = &outcome;
  }
  return first;
}

RunRecord runWorkers(const std::string& executable, const WorkerOrder& order, std::span<const RankPlace> places,
                     const PointOptions& options, const PointEvents& events) {
  const Nanos begin = now();
  Workers workers(executable, order, places, events);
  const Ending ending = workers.listen(options);
  workers.end();
  const Outcome outcome = outcomeOf(ending, workers, options, order.config);
  if (outcome.kind == OutcomeKind::ok) return workers.record();
  RunRecord record = workers.started(order.config);
  record.outcome = outcome;
  if (record.wall == Nanos{}) record.wall = now() - begin;
  return record;
}

}  // namespace tandem
