#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "autotune/interleaved_timing.h"
#include "autotune/measuring.h"
#include "autotune/timing_cache.h"

namespace tandem {

/// An alternative for computing an operation.
struct TuningCandidate {
  std::string name;  ///< without tab or line break
  /// Prepares the candidate. Returns the bytes of workspace that it needs; empty if it cannot run here.
  std::function<std::optional<int64_t>()> prepare;
  std::function<void()> run;
  /// Checks the result of the last run. Empty: no check is needed.
  std::function<bool()> isRight = {};
};

/// The candidates of an operation may run as long as so many calls of the first.
constexpr double callsOfSearch = 2000;
/// Candidates of an operation that are tried by default, of those that can run: the first, and four of a list by what a
/// library expects of them. On an H100 four of ResNet-50's 45 plans a pass came to within 0.3 % of all.
constexpr int64_t candidatesTried = 5;

struct TuningRule {
  std::string where;  ///< key part for the machine and the versions of all libraries that times depend on
  /// Seconds of one call, including the device's work.
  std::function<double(const std::function<void()>&)> secondsOf;
  int64_t workspaceBytes = 256 << 20;  ///< limit on workspace
  /// Limits of that, in seconds. After that no further candidate or sample is taken. Preparing and checking candidates
  /// does not count, because compiling one may take longer than timing all.
  double leastSeconds = 0.5, mostSeconds = 2;
  int64_t mostCandidates = candidatesTried;
  double margin = minSpeedup;  ///< another than the first must be this many times as fast
  MeasuringRule measuring{};
};

/// Result of tuning.
struct Tuned {
  size_t index = 0;             ///< index of the candidate to use
  double gain = 1;              ///< time of the first candidate / time of this one; 1 if one is not known
  std::vector<double> seconds;  ///< by candidate; negative: not valid
};

/// Selects the fastest of several candidates for an operation. It runs each prepared candidate within the workspace
/// limit once, checks the result, and takes a sample. Candidates that may still win get up to four more, in turns; the
/// median counts.
/// Times are cached, so each operation is measured once. Failures are cached too: a candidate that cannot run, needs
/// too much workspace, fails, computes a wrong result, or comes after time or the number of candidates ran out. When
/// the time of the rule for measuring is over, operations run by their first candidate. Use on one thread.
class Tuner {
 public:
  Tuner(TuningRule rule, TimingCache& cache)
      : rule_(std::move(rule)), cache_(cache), progress_(std::exchange(rule_.measuring.progress, nullptr)) {}
  Tuner(const Tuner&) = delete;
  Tuner& operator=(const Tuner&) = delete;

  /// Returns the fastest candidate, prepared. The first candidate wins unless a valid one is faster by more than
  /// the rule's margin. If the fastest candidate of the cache cannot be prepared now, the next one is taken.
  /// `operation`: all that the times depend on besides the rule's `where`; no tab, no line break.
  Tuned fastest(const std::string& operation, std::span<const TuningCandidate> candidates);

  const Measured& measured() const { return all_; }  ///< of all operations so far
  bool fromCache() const { return all_.fromCache(); }

 private:
  std::string keyOf(const std::string& operation, const TuningCandidate& candidate) const;
  std::vector<Timing> timed(std::span<const TuningCandidate> candidates) const;
  /// One per candidate; negative: not valid, or not measured.
  std::vector<double> secondsOf(const std::string& operation, std::span<const TuningCandidate> candidates);
  /// Seconds that the candidates of an operation may run; `first`: of a call of the first that can.
  double enoughSeconds(double first) const;
  /// The seconds of a call. Empty if it fails.
  std::vector<double> sampleOf(const TuningCandidate& candidate) const;
  bool isReady(const TuningCandidate& candidate) const;

  TuningRule rule_;
  TimingCache& cache_;
  std::function<void(int64_t, int64_t)> progress_;  // over all operations, not over the jobs of one
  MeasuringTime time_{rule_.measuring};
  Measured all_;
  StepSeconds total_;  // each operation once, which is less than a step
};

}  // namespace tandem
