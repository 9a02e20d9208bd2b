#pragma once

#include <vector>

#include "cli/bench_points.h"

namespace tandem {

/// Throws UsageError unless there are one or two points, all can run, and an image is the same work in both.
void checkComparable(const std::vector<BenchPoint>& points);

}  // namespace tandem
