#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>

#include "optim/optimizer.h"

namespace tandem {
namespace {

constexpr double warmupShare = 0.05;

double constant(int64_t, int64_t) { return 1; }

double cosine(int64_t step, int64_t totalSteps) {
  const double done = std::min(1.0, static_cast<double>(step) / static_cast<double>(totalSteps));
  return 0.5 * (1 + std::cos(std::numbers::pi * done));
}

// The factor of the first step is 1 / warmup, not 0: a step with rate 0 would train nothing.
double warmupCosine(int64_t step, int64_t totalSteps) {
  const auto warmup = std::max<int64_t>(1, static_cast<int64_t>(warmupShare * static_cast<double>(totalSteps)));
  if (step < warmup) return static_cast<double>(step + 1) / static_cast<double>(warmup);
  return cosine(step - warmup, std::max<int64_t>(1, totalSteps - warmup));
}

constexpr std::array<ScheduleEntry, 3> rows{{
    {"constant", "the rate given", constant, false},
    {"cosine", "half a cosine over --steps, from the rate given to zero at the last step", cosine, true},
    {"warmup-cosine", "linear over the first 5 % of --steps, then cosine", warmupCosine, true},
}};

}  // namespace

std::span<const ScheduleEntry> schedules() { return rows; }

}  // namespace tandem
