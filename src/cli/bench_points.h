#pragma once

#include <optional>
#include <string>
#include <vector>

#include "config/command_line.h"
#include "engine/plan.h"

namespace tandem {

/// A point of a sweep: what was asked for, and what it comes to or why it cannot be.
struct BenchPoint {
  Config config;
  std::string label;  ///< "replicas=2 strategy=replicated": the values of the axes
  std::optional<RunPlan> plan;
  std::string refusal;  ///< set when there is no plan
};

/// Without --replicas, --strategy and --devices the sweep gets two axes: replicated and parameter_server, and replicas
/// 1, 2, 4, ... up to `usableCores`; the measuring time is then shared so that the whole stays near two minutes, and a
/// small batch lets enough steps fit, unless options say otherwise. With --compare there are no default axes, and the
/// budget of each of its many runs is 5 s.
void addDefaultAxes(Sweep& sweep, int64_t usableCores);

/// The largest number of CPU replicas of any point, by which cores are divided.
int64_t largestReplicas(const std::vector<Config>& configs);

/// Resolves every point. A point that a rule forbids keeps the rule's text; when no point is possible, throws
/// UsageError with the first one's. DataError (a data set that cannot be read) concerns all and is thrown.
std::vector<BenchPoint> resolvePoints(const Sweep& sweep, const std::vector<Config>& configs);

}  // namespace tandem
