#include "cli/bench_run.h"

#include <algorithm>
#include <iostream>
#include <set>

#include "base/catalog.h"
#include "base/log.h"
#include "base/text.h"
#include "cli/banner.h"
#include "cli/bench_compare.h"
#include "cli/stop_on_signal.h"
#include "machine/gpu/gpu_utilization.h"
#include "measure/validity/consistency_checks.h"
#include "report/render/print_report.h"
#include "run/child/batch_probe.h"
#include "run/environment.h"
#include "run/outcome_of_exception.h"
#include "run/plan/device_assignment.h"
#include "run/start_record.h"

namespace tandem {
namespace {

constexpr const char* ownExecutable = "/proc/self/exe";

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
  if (outcome.kind == OutcomeKind::ok && !isQuotable(record) && !record.config.measurement.allowInterference) {
    auto reasons = record.interference.reasons;
    std::ranges::move(doubts(record), std::back_inserter(reasons));
    logWarning(concat(label, ": not valid: ", join(reasons, "; ")));
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

int exitStatus(const std::vector<RunRecord>& records) {
  const auto unmeasured = [](const RunRecord& record) { return record.outcome.kind != OutcomeKind::ok; };
  const auto disturbed = [](const RunRecord& record) {
    return !isQuotable(record) && !record.config.measurement.allowInterference;
  };
  const auto first = std::ranges::find_if(records, unmeasured);
  if (first != records.end()) return static_cast<int>(first->outcome.code);
  return static_cast<int>(std::ranges::any_of(records, disturbed) ? ExitCode::invalidMeasurement : ExitCode::ok);
}

}  // namespace

BenchRun::BenchRun(const Config& shared, std::vector<BenchPoint> points)
    : points_(std::move(points)),
      format_(find(renderers(), shared.output.format, "--format")),
      forPrograms_(format_.forPrograms),
      compare_(shared.measurement.compare),
      logs_(shared, forPrograms_),
      file_(shared.output.out),
      runner_(ownExecutable),
      peaks_(ownExecutable, shared.measurement.measurePeaks) {
  if (compare_) checkComparable(points_);
}

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
  point.plan = resolvePlan(point.config);
  return {};
}

RunRecord BenchRun::measureBatch(const BenchPoint& point, const std::string& title) {
  people() << title << ": " << planLine(*point.plan) << '\n' << std::flush;
  const PeakRates peaks = peaks_.of(*point.plan);
  RunRecord record = runner_.run(point.plan->config, {.deadlineSeconds = deadlineSeconds(point.config)},
                                 {.progress = [&](const Progress& state) { progress_.show(title, state); }});
  progress_.clear();
  record.flopsPeak = peaks.flops;
  record.bytesPeak = peaks.bytes;
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
  logProblems(record, point.label);
  return record;
}

RunRecord& BenchRun::store(RunRecord record, const BenchPoint& point) {
  records_.push_back(std::move(record));
  file_.append(records_.back());
  if (point.plan) logs_.add(records_.back(), point.label);
  return records_.back();
}

bool BenchRun::measureAll() {
  for (size_t i = 0; i < points_.size() && !PointRunner::stopRequested(); ++i) {
    auto record = measure(points_[i], concat('[', i + 1, '/', points_.size(), "] ", points_[i].label));
    if (record.outcome.code == ExitCode::interrupted) return false;
    store(std::move(record), points_[i]);
  }
  return records_.size() == points_.size();
}

void BenchRun::show() const {
  if (records_.empty()) return;
  if (!forPrograms_) std::cout << '\n';
  printBenchEnd(records_, format_, std::cout, people());
}

int BenchRun::run() {
  people() << bannerText(readEnvironment()) << '\n' << std::flush;
  warnOfBusyGpus(points_);
  bool complete = false;
  try {
    const StopOnSignal stop;
    complete = compare_ ? measureInTurns() : measureAll();
  } catch (...) {
    show();
    throw;
  }
  if (compare_ && complete) {
    showComparison();
  } else {
    show();
  }
  if (PointRunner::stopRequested() && !complete) {
    const std::string of = compare_ ? " runs" : concat(" of ", points_.size(), " points");
    throw Error(ExitCode::interrupted, concat("interrupted with ", records_.size(), of, " finished; those are stored"));
  }
  return exitStatus(records_);
}

}  // namespace tandem
