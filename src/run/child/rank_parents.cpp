#include "run/child/rank_parents.h"

#include "base/log.h"
#include "base/text.h"
#include "run/child/worker_team.h"
#include "run/plan/plan.h"

namespace tandem {
namespace {

constexpr double untilTheNextOrder = 1e6;  // s: the leader may measure peaks meanwhile, and its end is noticed at once
constexpr double endSeconds = 15;          // after the timeout, in which workers end that wait for a rank in vain
constexpr double waitedSeconds = 1.2;      // where the own worker has waited for the timeout: others did so too

RankPlace within(RankPlace place, const std::string& run) {
  place.run += run;
  return place;
}

void requireSameCommand(World& world, const std::string& command) {
  const auto said = world.exchange(command);
  for (size_t rank = 1; rank < said.size(); ++rank) {
    if (said[rank] == said[0]) continue;
    throw UsageError(concat("ranks were started with different arguments: rank 0 with '", said[0], "', rank ", rank,
                            " with '", said[rank], "'; give all the same"));
  }
}

}  // namespace

RankParents::RankParents(const LaunchedRank& launched, const std::string& command, double timeoutSeconds)
    : meeting_(meetingOf(launched)), world_(meetRanks(within(place(), "/parents"), timeoutSeconds)) {
  requireSameCommand(*world_, command);
}

// Where a rank is lost, nobody is there to be sent home, or hears of it by the end of the store.
RankParents::~RankParents() {
  if (!leads() || lost_) return;
  try {
    world_->fromFirst("");
    world_->toFirst("", endSeconds);  // the store must last until they have heard it
  } catch (const std::exception& failure) {
    logWarning(concat("other ranks could not be sent home: ", failure.what()));
  }
}

std::vector<RankReport> RankParents::runTogether(const std::string& executable, const WorkerOrder& order,
                                                 const PointOptions& options, const PointEvents& events) {
  const RankPlace own = within(place(), concat("/run ", runs_++));
  RankReport report = runWorkers(executable, order, std::span(&own, 1), options, events).front();
  if (!leads() && place().localRank == 0) fillPeaks(executable, order, report.record);
  const bool finished = report.end == RankEnd::finished;
  const double patience = report.waited ? waitedSeconds : order.config.exchange.timeout + endSeconds;
  try {
    std::vector<RankReport> reports;
    for (const std::string& text : world_->toFirst(toText(report), patience)) reports.push_back(reportFromText(text));
    if (!finished && !leads()) world_->requireStore();
    return reports;
  } catch (const PeerError& gone) {
    lost_ = true;
    if (finished) throw;
    const Outcome own = outcomeOf(std::span(&report, 1), order.config.exchange.timeout);
    throw Error(own.code, concat(own.reason, "; ", gone.what()));
  }
}

void RankParents::fillPeaks(const std::string& executable, const WorkerOrder& order, RunRecord& record) {
  if (record.outcome.kind != OutcomeKind::ok) return;
  if (!peaks_) peaks_.emplace(executable, order.config.measurement.measurePeaks);
  const PeakRates peaks = peaks_->of(resolvePlan(order.config, &place()));
  record.flopsPeak = peaks.flops, record.bytesPeak = peaks.bytes;
}

RunRecord RankParents::run(const std::string& executable, const WorkerOrder& order, const PointOptions& options,
                           const PointEvents& events) {
  world_->fromFirst(toText(order));
  const std::vector<RankReport> reports = runTogether(executable, order, options, events);
  if (reports.front().record.outcome.code == ExitCode::interrupted) return reports.front().record;
  return recordOf(reports, order.config.exchange.timeout);
}

void RankParents::follow(const std::string& executable) {
  for (;;) {
    const std::string text = world_->fromFirst("", untilTheNextOrder);
    if (text.empty()) break;
    const WorkerOrder order = orderFromText(text);
    runTogether(executable, order, {.deadlineSeconds = deadlineSeconds(order.config)}, {});
  }
  world_->toFirst("");
}

}  // namespace tandem
