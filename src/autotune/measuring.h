#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <limits>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "autotune/timing_cache.h"
#include "base/clock.h"

namespace tandem {

/// Seconds of a training step: by the defaults, and by the fastest of what was measured so far.
struct StepSeconds {
  double byDefault = 0, chosen = 0;
};

/// How a choice between alternatives measures them: which kept measurements count, how long it may take, what is told.
struct MeasuringRule {
  std::string at{};     ///< UTC of the choice; kept with what it measures
  std::string since{};  ///< when the sweep began: later measurements count in any case, so that its points choose alike
  bool anew = false;    ///< earlier measurements do not count
  double freeSeconds = std::numeric_limits<double>::infinity();  ///< that a choice may take whatever it saves
  /// Seconds that a run saves. A tenth of them may be spent if that is more. Empty: nothing is known of it.
  std::function<double(const StepSeconds&)> saves{};
  /// Called before each measurement; `all`: 0 if not known.
  std::function<void(int64_t done, int64_t all)> progress{};
  /// What disturbed the machine since the last call, or since this rule was made; empty: nobody looks.
  std::function<std::vector<std::string>()> disturbances{};

  bool counts(const Timing& timing) const;
};

/// The time that a choice may take by its rule.
class MeasuringTime {
 public:
  /// `rule` outlives it.
  explicit MeasuringTime(const MeasuringRule& rule) : rule_(rule) {}

  const MeasuringRule& rule() const { return rule_; }

  /// Whether another measurement could take longer than is left. It is taken to last as long as the longest so far.
  bool isOver(const std::function<StepSeconds()>& soFar) const;

  template <class Measure>
  auto measure(const Measure& work) {
    const Nanos begin = now();
    auto result = work();
    longest_ = std::max(longest_, seconds(now() - begin));
    return result;
  }

 private:
  const MeasuringRule& rule_;
  Nanos begin_ = now();
  double longest_ = 0;
};

/// Whether a call can last so many seconds: 1 ns to 10,000 s. A cache may hold anything.
bool isTime(double seconds);
bool areTimes(const std::vector<double>& seconds);

/// Alternatives that are measured together.
struct MeasuringJob {
  std::vector<std::string> keys{};               ///< one per alternative
  size_t numbers = 1;                            ///< of each
  std::function<std::vector<Timing>()> timings;  ///< measures all of them
  /// Whether an alternative can have such numbers; `key`: its index. Kept ones that cannot be true are measured anew.
  std::function<bool(size_t key, const std::vector<double>&)> isPlausible = [](size_t, const auto& numbers) {
    return areTimes(numbers);
  };
};

using Timings = std::map<std::string, Timing>;  ///< by key

/// What a choice rests on.
struct Measured {
  Timings timings = {};                        ///< without those that were postponed
  int64_t jobs = 0, now = 0, postponed = 0;    ///< all; measured in this call; left to the next run
  std::vector<std::string> disturbances = {};  ///< while they were measured; the next run measures them again

  bool fromCache() const { return now == 0; }
  double spread() const;       ///< median over the timings; 0 without one
  std::string oldest() const;  ///< when the oldest was measured; empty if that is not known
};

/// Takes the timings in `cache` that count, and measures the others in the order of the jobs, those first that have no
/// older timings. If something disturbed
/// the machine meanwhile, all that it measured is measured once more. When time is over, the jobs that are left take
/// older timings, or are postponed. Nothing that was disturbed or postponed counts in the next sweep. `stepOf`: what
/// timings say of a training step.
Measured measureJobs(std::span<const MeasuringJob> jobs, MeasuringTime& time, TimingCache& cache,
                     const std::function<StepSeconds(const Timings&)>& stepOf);

}  // namespace tandem
