#include "measure/validity/stationarity.h"

#include "base/text.h"
#include "measure/metrics/change_point.h"
#include "measure/metrics/step_times.h"

namespace tandem {
namespace {

constexpr double leastChange = 0.1;  // the warm-up rule takes this for another level too

}  // namespace

std::string notSteadyBecause(const RunRecord& record) {
  if (record.outcome.kind != OutcomeKind::ok) return "";
  if (!record.warmup.steady) {
    return concat("the step time had not settled after ", record.warmup.steps, " warm-up steps");
  }
  const std::vector<double> steps = stepSeconds(record);
  const auto change = changeIn(steps, leastChange);
  if (!change) return "";
  return concat("the step time went from ", fixed(1e3 * change->before, 1), " to ", fixed(1e3 * change->after, 1),
                " ms at step ", change->at + 1, " of ", steps.size());
}

}  // namespace tandem
