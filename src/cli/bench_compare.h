#pragma once

#include <span>
#include <string>
#include <vector>

#include "cli/bench_points.h"
#include "measure/record/record.h"

namespace tandem {

/// Checks the points of --compare. Throws UsageError unless there are one or two, all can run, and an image is the same
/// work in both. REQUIRES: at least one point.
void checkComparable(const std::vector<BenchPoint>& points);

/// Why a comparison is given up: each of its last three rounds has two runs or more that are not quotable. It names
/// one of them. Empty as long as it goes on, and with --allow-interference. REQUIRES: whole rounds of finished runs.
std::string lastingDisturbance(std::span<const RunRecord> records);

}  // namespace tandem
