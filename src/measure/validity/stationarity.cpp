#include "measure/validity/stationarity.h"

#include "base/statistics.h"
#include "base/text.h"
#include "measure/metrics/change_point.h"
#include "measure/metrics/step_times.h"

namespace tandem {
namespace {

constexpr double leastChange = 0.1;  // the warm-up rule takes this for another level too
constexpr size_t firstSteps = 3;     // its window

std::string milliseconds(double seconds) { return fixed(1e3 * seconds, 1); }

/// A given number of warm-up steps may be too few: then the first steps of the window are slower than the rest.
std::string coldStart(const RunRecord& record, std::span<const double> steps) {
  if (record.config.measurement.warmup == Config::automatic || steps.size() < 2 * firstSteps) return "";
  const double first = *median(steps.first(firstSteps)), rest = *median(steps.subspan(firstSteps));
  if (first <= (1 + leastChange) * rest) return "";
  return concat("the first ", firstSteps, " steps took ", milliseconds(first), " ms, the others ", milliseconds(rest),
                " ms: --warmup=", record.config.measurement.warmup, " is too short");
}

}  // namespace

std::string notSteadyBecause(const RunRecord& record) {
  if (record.outcome.kind != OutcomeKind::ok) return "";
  if (!record.warmup.steady) {
    return concat("the step time had not settled after ", record.warmup.steps, " warm-up steps");
  }
  const std::vector<double> steps = stepSeconds(record);
  const auto change = changeIn(steps, leastChange);
  if (!change) return coldStart(record, steps);
  return concat("the step time went from ", milliseconds(change->before), " to ", milliseconds(change->after),
                " ms at step ", change->at + 1, " of ", steps.size());
}

}  // namespace tandem
