#include "measure/validity/warmup_rule.h"

#include <algorithm>

#include "base/error.h"
#include "base/statistics.h"

namespace tandem {

bool isSteady(std::span<const double> stepSeconds, const WarmupRule& rule) {
  check(rule.window > 0 && rule.tolerance >= 0, "steady rule: window > 0, tolerance >= 0");
  const auto window = static_cast<size_t>(rule.window);
  if (stepSeconds.size() < 2 * window) return false;
  const auto medianFrom = [&](size_t first) { return *median(stepSeconds.subspan(first, window)); };
  const double newer = medianFrom(stepSeconds.size() - window);
  const double older = medianFrom(stepSeconds.size() - 2 * window);
  if (std::abs(newer - older) > rule.tolerance * older) return false;
  double fastest = newer;
  for (size_t first = 0; first + window <= stepSeconds.size(); ++first) {
    fastest = std::min(fastest, medianFrom(first));
  }
  return std::max(newer, older) <= fastest * (1 + 2 * rule.tolerance);
}

}  // namespace tandem
