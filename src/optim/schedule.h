#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <limits>
#include <span>
#include <string_view>
#include <vector>

namespace tandem {

/// What a schedule is told of the training.
struct RateCourse {
  int64_t totalSteps = 0;            ///< 0: unknown
  double stepsPerEpoch = 0;          ///< 0: unknown
  double warmupEpochs = 0;           ///< in which the rate grows, before the schedule begins
  double warmupFrom = 0;             ///< share of the rate that it grows from
  std::vector<double> fallsAt = {};  ///< epochs, rising, of piecewise
  double fallFactor = 0.1;           ///< of piecewise
  double power = 1;                  ///< of polynomial
  double end = 0;                    ///< share of the rate at the end of cosine, polynomial and one-cycle
};

/// Where a schedule is asked for its factor. Steps of the warm-up are not counted: it precedes the schedule.
struct SchedulePoint {
  double step = 0, totalSteps = 0;  ///< from 0; may be beyond the end
  double epoch = 0;                 ///< of the whole training, with the warm-up
  const RateCourse& course;

  /// The share of the schedule that has passed, from 0 to 1.
  double done() const { return totalSteps > 0 ? std::min(1.0, step / totalSteps) : 1; }
};

/// A row of the schedule catalog: the learning-rate factor over the steps of a run.
struct ScheduleEntry {
  std::string_view name, summary;
  double (*factor)(const SchedulePoint&);
  bool needsTotal = false;   ///< refused where the number of steps is not known (run/plan/rules.cpp)
  bool needsEpochs = false;  ///< likewise where no epochs are: it counts them, or evaluations
  bool followsLoss = false;  ///< its falls come from outside, through RateFactor: class Plateau
  // The fields of RateCourse that it reads:
  bool usesFalls = false;   ///< fallsAt
  bool usesFactor = false;  ///< fallFactor, or as a factor of what comes from outside
  bool usesPower = false;
  bool usesEnd = false;
};

/// constant, cosine, warmup-cosine (linear over the first 5 %, then cosine), piecewise, polynomial, one-cycle, plateau.
std::span<const ScheduleEntry> schedules();

/// The factor of step `step`, from 0, of the course. In a warm-up of w steps it is the schedule's first value times
/// `warmupFrom` + (1 - `warmupFrom`) step / w, as PyTorch's LinearLR. w = warmupEpochs stepsPerEpoch need not be whole.
double factorAt(const ScheduleEntry& schedule, const RateCourse& course, int64_t step);

/// The update at which the schedule of a run begins. Until it is known the schedule stays at its first value. Set by
/// one thread; any thread may read it.
class ScheduleBegin {
 public:
  void set(int64_t update) { update_.store(update); }
  /// The schedule's step of update `update`, both from 0.
  int64_t stepOf(int64_t update) const { return std::max<int64_t>(0, update - update_.load()); }

 private:
  std::atomic<int64_t> update_{std::numeric_limits<int64_t>::max()};
};

/// A factor of the learning rate beside that of the schedule, which something outside sets between steps. Optimizers
/// read it in beginStep(), so a captured step sees it too. Any thread may set and read it; replicas that must make the
/// same update read it when all have ended the step before.
class RateFactor {
 public:
  void set(double factor) { factor_.store(factor); }
  double get() const { return factor_.load(); }

 private:
  std::atomic<double> factor_{1};
};

}  // namespace tandem
