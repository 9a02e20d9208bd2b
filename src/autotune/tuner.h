#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "autotune/interleaved_timing.h"
#include "autotune/timing_cache.h"

namespace tandem {

/// A way to compute an operation.
struct TuningCandidate {
  std::string name;  ///< no tab, no line break
  /// Makes it ready to run: bytes of workspace that it needs, nothing where it does not serve here.
  std::function<std::optional<int64_t>()> prepare;
  std::function<void()> run;
  /// Whether its last run computed what it should, where that is not taken for granted.
  std::function<bool()> isRight = {};
};

struct TuningRule {
  std::string where;  ///< what times are kept under: machine and versions of all that they depend on
  /// Of one call, the device's work included.
  std::function<double(const std::function<void()>&)> secondsOf;
  int64_t workspaceBytes = 256 << 20;  ///< at most
  double enoughSeconds = 0.5;          ///< of an operation: then no further candidate is begun, no time taken again
};

/// What tuning found.
struct Tuned {
  size_t index = 0;             ///< of the candidate to use
  double gain = 1;              ///< seconds of the first candidate over those of this one; 1 where one is not known
  std::vector<double> seconds;  ///< by candidate; negative: it does not count
};

/// Takes the fastest of several ways to compute an operation. Each that is ready and within the limit of workspace is
/// called once, which must give the right result, and then timed, all by samples, up to five times those that may win;
/// the median counts. Times are kept, so that the same operation is measured once; so is that one does not serve, needs
/// too much workspace, failed, was wrong, or came when there was no time left. On one thread.
class Tuner {
 public:
  Tuner(TuningRule rule, TimingCache& cache) : rule_(std::move(rule)), cache_(cache) {}

  /// The first candidate stays unless another is more than 3 % faster, and where none serves. The one chosen is ready;
  /// one that the cache knows as the fastest, but that is not ready now, leaves its place to the next.
  /// `operation`: all that the times depend on besides the rule's `where`; no tab, no line break.
  Tuned fastest(const std::string& operation, std::span<const TuningCandidate> candidates);

  bool fromCache() const { return fromCache_; }  ///< nothing was measured yet

 private:
  std::string keyOf(const std::string& operation, const TuningCandidate& candidate) const;
  std::vector<double> measured(std::span<const TuningCandidate> candidates) const;
  /// The seconds of a call; none where it fails.
  std::vector<double> sampleOf(const TuningCandidate& candidate) const;
  bool isReady(const TuningCandidate& candidate) const;

  TuningRule rule_;
  TimingCache& cache_;
  bool fromCache_ = true;
};

}  // namespace tandem
