#pragma once

#include <cstdint>

#include "config/config.h"

namespace tandem {

/// Rounds of a sweep with --repeats=auto: at least this many, and at most that many. In simulated sweeps of equal
/// points more rounds than that raise the share of wrong verdicts above 2 % (tests/cli/bench_rounds_long_test.cpp).
constexpr int64_t fewestAutoRounds = 3, mostAutoRounds = 16;

/// The number of runs of a point: as given, or 1 with --repeats=auto for a run that is not repeated, because it writes
/// a file of its own or is taken apart. Config::automaticRepeats if the results decide.
int64_t repeatsOf(const Config& config);

/// The number of runs of a point that are certain. `repeats`: of repeatsOf().
int64_t fewestRepeats(int64_t repeats);

/// Seconds of measuring of one run, warm-up included: --budget / --repeats; with auto a fifth of --budget, so that
/// rounds beyond the third fit, but at least a second of it, below which no disturbance can be seen.
double runBudget(const Config& config);

}  // namespace tandem
