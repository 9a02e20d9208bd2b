#include "optim/schedule.h"

#include <cmath>
#include <numbers>

namespace tandem {
namespace {

constexpr double warmupShare = 0.05;
constexpr double epochTolerance = 1e-9;  // steps over steps per epoch are a rounded quotient

// Of torch.optim.lr_scheduler.OneCycleLR: pct_start, div_factor and final_div_factor.
constexpr double risingShare = 0.3, firstDivisor = 25, lastDivisor = 1e4;

/// Half a cosine from `from` to `to`, where `share` of its way is done.
double annealed(double from, double to, double share) {
  return to + (from - to) * 0.5 * (1 + std::cos(std::numbers::pi * share));
}

double constant(const SchedulePoint&) { return 1; }

double cosine(const SchedulePoint& point) { return annealed(1, point.course.end, point.done()); }

// The factor of the first step is 1 / warmup, not 0: a step with rate 0 would train nothing.
double warmupCosine(const SchedulePoint& point) {
  const double warmup = std::max(1.0, std::floor(warmupShare * point.totalSteps));
  if (point.step < warmup) return std::min(1.0, (point.step + 1) / warmup);
  const double rest = std::max(1.0, point.totalSteps - warmup);
  return cosine({.step = point.step - warmup, .totalSteps = rest, .epoch = point.epoch, .course = point.course});
}

double piecewise(const SchedulePoint& point) {
  double factor = 1;
  for (const double fall : point.course.fallsAt) {
    if (point.epoch + epochTolerance >= fall) factor *= point.course.fallFactor;
  }
  return factor;
}

double polynomial(const SchedulePoint& point) {
  const double end = point.course.end;
  return end + (1 - end) * std::pow(1 - point.done(), point.course.power);
}

// The peak is step 0.3 n - 1 and the end step n - 1, of n steps, as there.
double oneCycle(const SchedulePoint& point) {
  const double first = 1 / firstDivisor, last = point.course.end > 0 ? point.course.end : first / lastDivisor;
  const double peak = risingShare * point.totalSteps - 1, end = point.totalSteps - 1;
  if (point.step <= peak) return annealed(first, 1, peak > 0 ? point.step / peak : 1);
  const double from = std::max(0.0, peak);
  return annealed(1, last, end > from ? std::min(1.0, (point.step - from) / (end - from)) : 1);
}

constexpr ScheduleEntry rows[] = {
    {.name = "constant", .summary = "the rate given", .factor = constant},
    {.name = "cosine",
     .summary = "half a cosine over all steps, from the rate given to --lr-end of it, or zero",
     .factor = cosine,
     .needsTotal = true,
     .usesEnd = true},
    {.name = "warmup-cosine",
     .summary = "linear over the first 5 % of all steps, then cosine",
     .factor = warmupCosine,
     .needsTotal = true,
     .usesEnd = true},
    {.name = "piecewise",
     .summary = "the rate falls by --lr-factor at each epoch of --lr-steps",
     .factor = piecewise,
     .needsEpochs = true,
     .usesFalls = true,
     .usesFactor = true},
    {.name = "polynomial",
     .summary = "a polynomial of --lr-power over all steps, from the rate given to --lr-end of it, or zero",
     .factor = polynomial,
     .needsTotal = true,
     .usesPower = true,
     .usesEnd = true},
    {.name = "one-cycle",
     .summary = "PyTorch's OneCycleLR: a cosine up from 1/25 over 30 % of all steps, then one down to 1/250000 or "
                "--lr-end; the momentum stays",
     .factor = oneCycle,
     .needsTotal = true,
     .usesEnd = true},
    {.name = "plateau",
     .summary = "the rate falls by --lr-factor after --patience evaluations without a better loss",
     .factor = constant,
     .needsEpochs = true,
     .followsLoss = true,
     .usesFactor = true},
};

}  // namespace

std::span<const ScheduleEntry> schedules() { return rows; }

double factorAt(const ScheduleEntry& schedule, const RateCourse& course, int64_t step) {
  const auto at = static_cast<double>(step), total = static_cast<double>(course.totalSteps);
  const double warmup = course.warmupEpochs * course.stepsPerEpoch;
  const double grown = at < warmup ? course.warmupFrom + (1 - course.warmupFrom) * at / warmup : 1;
  const double factor = schedule.factor({.step = std::max(0.0, at - warmup),
                                         .totalSteps = std::max(0.0, total - warmup),
                                         .epoch = course.stepsPerEpoch > 0 ? at / course.stepsPerEpoch : 0,
                                         .course = course});
  return grown * factor;
}

}  // namespace tandem
