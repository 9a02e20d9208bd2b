#include "cli/bench_run.h"

#include <unistd.h>

#include <algorithm>
#include <functional>
#include <iostream>
#include <map>
#include <set>

#include "base/catalog.h"
#include "base/log.h"
#include "base/text.h"
#include "cli/banner.h"
#include "cli/stop_on_signal.h"
#include "config/repeats.h"
#include "machine/gpu/gpu_utilization.h"
#include "machine/process/child_process.h"
#include "machine/process/utc_time.h"
#include "measure/record/merged_record.h"
#include "measure/validity/consistency_checks.h"
#include "measure/validity/shortcoming.h"
#include "report/analysis/comparison.h"
#include "report/render/print_report.h"
#include "run/child/batch_probe.h"
#include "run/environment.h"
#include "run/outcome_of_exception.h"
#include "run/plan/device_assignment.h"
#include "run/start_record.h"

namespace tandem {
namespace {

constexpr int mostAgain = 2;  // times that a disturbed point is measured again

RunRecord unmeasured(const BenchPoint& point, Outcome outcome) {
  RunRecord record = startRecord(resolveConfig(point.config));
  record.outcome = std::move(outcome);
  return record;
}

/// What --batch=max has found was tried, and is not judged.
Outcome judgeMemory(const BenchPoint& point) {
  if (point.search) return {};
  try {
    checkMemory(*point.plan);
  } catch (const UsageError& tooLittle) {
    return outcomeOf(tooLittle, point.config);
  }
  return {};
}

void logProblems(const RunRecord& record, const std::string& label) {
  const Outcome& outcome = record.outcome;
  if (outcome.kind == OutcomeKind::failed && outcome.code != ExitCode::interrupted) {
    logError(concat("error[", nameOf(outcome.code), "]: ", label, ": ", outcome.reason));
  }
  if (outcome.kind == OutcomeKind::ok && !isAccepted(record)) {
    logWarning(concat(label, ": not valid: ", whyNotQuotable(record)));
  }
}

void warnOfBusyGpus(const std::vector<BenchPoint>& points) {
  std::set<int> gpus;
  for (const auto& point : points) {
    if (point.plan) gpus.insert(point.plan->cudaDevices.begin(), point.plan->cudaDevices.end());
  }
  const auto uses = settledGpuUse(probedGpus(std::vector<int>(gpus.begin(), gpus.end())));
  for (const auto& line : busyLines(uses)) logWarning(concat(line, ": rates will be those of a shared GPU"));
}

/// `pointOf`: the point of each record.
int exitStatus(const std::vector<RunRecord>& records, const std::vector<size_t>& pointOf) {
  std::map<size_t, bool> accepted;
  for (size_t i = 0; i < records.size(); ++i) {
    if (records[i].outcome.kind != OutcomeKind::ok) return static_cast<int>(records[i].outcome.code);
    accepted[pointOf[i]] |= isAccepted(records[i]);
  }
  const bool all = std::ranges::all_of(accepted, [](const auto& point) { return point.second; });
  return static_cast<int>(all ? ExitCode::ok : ExitCode::invalidMeasurement);
}

bool isDisturbed(const RunRecord& record) {
  return record.outcome.kind == OutcomeKind::ok && !shortcoming(record).empty() &&
         !record.config.measurement.allowInterference;
}

/// The budgets of all points that can run.
double budgetOf(const std::vector<BenchPoint>& points) {
  double sum = 0;
  for (const BenchPoint& point : points) sum += point.plan ? point.config.measurement.budget : 0;
  return sum;
}

BenchRounds roundsOf(const Config& shared, const std::vector<BenchPoint>& points, const std::string& sweep) {
  return BenchRounds({.points = points.size(),
                      .repeats = repeatsOf(shared),
                      .budgetSeconds = budgetOf(points),
                      .seed = std::hash<std::string>()(sweep)});
}

}  // namespace

BenchRun::BenchRun(const Config& shared, std::vector<BenchPoint> points, RankParents* parents)
    : points_(std::move(points)),
      format_(find(renderers(), shared.output.format, "--format")),
      forPrograms_(format_.forPrograms),
      compare_(shared.measurement.compare),
      page_(shared.output.page),
      logs_(shared, forPrograms_),
      file_(shared.output.out),
      runner_(ownExecutable, parents),
      peaks_(ownExecutable, shared.measurement.measurePeaks),
      sweep_(concat(utcTime(), '-', getpid())),
      rounds_(roundsOf(shared, points_, sweep_)),
      again_(points_.size()) {}

std::ostream& BenchRun::people() const { return forPrograms_ ? std::cerr : std::cout; }

Outcome BenchRun::settleBatch(BenchPoint& point, const std::string& title) {
  if (!point.plan->search) return {};
  people() << title << ": --batch=max: trying from " << point.plan->search->guess
           << " on, the memory estimate's guess\n"
           << std::flush;
  const auto trying = [&](int64_t batch, const Progress& state) {
    progress_.show(concat(title, ": trying batch ", batch), state);
  };
  FoundBatch found = findBatch(runner_, *point.plan, trying);
  progress_.clear();
  point.search = found.search;
  if (found.outcome.kind != OutcomeKind::ok) return found.outcome;
  people() << title << ": " << textOf(found.search, found.batch) << '\n' << std::flush;
  point.config.step.batch = found.batch;
  point.plan = resolvePlan(point.config, &point.plan->place);
  return {};
}

RunRecord BenchRun::measureBatch(const BenchPoint& point, const std::string& title) {
  if (rounds_.round() <= 1) people() << title << ": " << planLine(*point.plan) << '\n' << std::flush;
  const PeakRates peaks = peaks_.of(*point.plan);
  Config config = point.plan->config;
  if (point.verified) config.measurement.verify = withoutVerification().name;
  RunRecord record = runner_.run(config, {.deadlineSeconds = deadlineSeconds(point.config)},
                                 {.progress = [&](const Progress& state) { progress_.show(title, state); }});
  progress_.clear();
  record.config.measurement.verify = point.plan->config.measurement.verify;
  record.flopsPeak = sumOverHosts(record, peaks.flops, &HostRecord::flopsPeak);
  record.bytesPeak = sumOverHosts(record, peaks.bytes, &HostRecord::bytesPeak);
  if (point.search) record.notes.push_back(textOf(*point.search, point.config.step.batch));
  return record;
}

RunRecord BenchRun::measure(BenchPoint& point, const std::string& title) {
  if (!point.plan) {
    people() << title << ": skipped, " << point.refusal << '\n' << std::flush;
    return unmeasured(point, {OutcomeKind::skipped, ExitCode::usage, point.refusal});
  }
  point.plan->availableBytes = availableBytesNow(*point.plan);  // other programs may have taken some since it was made
  Outcome outcome = settleBatch(point, title);
  if (outcome.kind == OutcomeKind::ok) outcome = judgeMemory(point);
  RunRecord record = outcome.kind == OutcomeKind::ok ? measureBatch(point, title) : unmeasured(point, outcome);
  record.batchSearch = point.search;
  point.verified = point.verified || record.equality;
  logProblems(record, point.label);
  return record;
}

RunRecord& BenchRun::store(RunRecord record, size_t point) {
  record.sweep = sweep_;
  records_.push_back(std::move(record));
  pointOf_.push_back(point);
  file_.append(records_.back());
  if (points_[point].plan) logs_.add(records_.back(), points_[point].label);
  return records_.back();
}

bool BenchRun::measureOne(size_t point, const std::string& title) {
  if (PointRunner::stopRequested()) return false;
  RunRecord record = measure(points_[point], concat(title, ' ', points_[point].label));
  if (record.outcome.code == ExitCode::interrupted) return false;
  record.round = rounds_.round();
  store(std::move(record), point);
  return true;
}

bool BenchRun::measureRound(const std::vector<size_t>& order) {
  const std::string round = rounds_.single() ? "" : concat("round ", rounds_.round(), ": ");
  std::vector<size_t> disturbed;
  for (size_t i = 0; i < order.size(); ++i) {
    if (!measureOne(order[i], concat('[', round, i + 1, '/', order.size(), ']'))) return false;
    const bool trains = !points_[order[i]].config.output.saveWeights.empty();  // again, it would train anew
    if (isDisturbed(records_.back()) && !trains && again_[order[i]] < mostAgain) disturbed.push_back(order[i]);
  }
  for (const size_t point : disturbed) {
    ++again_[point];
    if (!measureOne(point, concat('[', round, "again]"))) return false;
  }
  return true;
}

double BenchRun::leastLeft(double passed) const {
  const auto done = static_cast<double>(rounds_.round() - 1);
  return passed / done * static_cast<double>(rounds_.leastRounds() - rounds_.round() + 1);
}

void BenchRun::announceRound() const {
  if (rounds_.single()) return;
  const double passed = seconds(now() - begin_), measured = measuredSeconds(records_);
  people() << "round " << rounds_.title();
  if (measured > 0) {
    const double left = std::max(0.0, budgetOf(points_) - measured) * passed / measured;
    people() << "; " << secondsText(passed) << " so far, about " << secondsText(std::max(left, leastLeft(passed)))
             << " left at most";
  } else if (points_.front().config.measurement.steps == 0) {
    people() << "; about " << secondsText(budgetOf(points_)) << " and start-ups in all";
  }
  people() << '\n' << std::flush;
}

bool BenchRun::measureRounds() {
  begin_ = now();
  for (;;) {
    const auto order = rounds_.next(records_, pointOf_);
    if (order.empty()) break;
    announceRound();
    if (!measureRound(order)) return false;
  }
  if (!rounds_.ending().empty()) people() << rounds_.ending() << '\n' << std::flush;
  return true;
}

void BenchRun::show() const {
  if (records_.empty()) return;
  if (!forPrograms_) std::cout << '\n';
  printBenchEnd(records_, format_, std::cout, people());
}

void BenchRun::writePageIfAsked() const {
  if (page_.empty() || records_.empty()) return;
  writePage(records_, page_);
  people() << "page: " << page_ << '\n' << std::flush;
}

int BenchRun::run() {
  people() << bannerText(readEnvironment()) << '\n' << std::flush;
  warnOfBusyGpus(points_);
  bool complete = false;
  try {
    const StopOnSignal stop;
    complete = compare_ ? measureInTurns() : measureRounds();
  } catch (...) {
    show();
    throw;
  }
  if (compare_ && (complete || records_.size() >= fewestComparedRuns)) {
    showComparison();
  } else {
    show();
  }
  writePageIfAsked();
  if (PointRunner::stopRequested() && !complete) {
    const std::string of = rounds_.single() && !compare_ ? concat(" of ", points_.size(), " points") : " runs";
    throw Error(ExitCode::interrupted, concat("interrupted with ", records_.size(), of, " finished; those are stored"));
  }
  if (!disturbance_.empty()) throw InvalidMeasurement(disturbance_);
  return exitStatus(records_, pointOf_);
}

}  // namespace tandem
