#include "config/repeats.h"

#include <algorithm>

namespace tandem {
namespace {

constexpr double autoRuns = 5, leastSeconds = 1;

}  // namespace

int64_t repeatsOf(const Config& config) {
  const bool once = config.measurement.profile || !config.output.saveWeights.empty() || !config.output.trace.empty();
  const int64_t asked = config.measurement.repeats;
  return asked == Config::automaticRepeats && (once || config.measurement.compare) ? 1 : asked;
}

int64_t fewestRepeats(int64_t repeats) { return repeats == Config::automaticRepeats ? fewestAutoRounds : repeats; }

double runBudget(const Config& config) {
  const double budget = config.measurement.budget;
  const int64_t repeats = repeatsOf(config);
  if (repeats != Config::automaticRepeats) return budget / static_cast<double>(repeats);
  return std::max(budget / autoRuns, std::min(budget, leastSeconds));
}

}  // namespace tandem
