#pragma once

#include <vector>

#include "cli/bench_points.h"

namespace tandem {

/// Checks the points of --compare. Throws UsageError unless there are one or two, all can run, and an image is the same
/// work in both. REQUIRES: at least one point.
void checkComparable(const std::vector<BenchPoint>& points);

}  // namespace tandem
