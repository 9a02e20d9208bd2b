#pragma once

#include <string_view>
#include <vector>

#include "measure/record/record.h"

namespace tandem {

/// What the time of a training went to.
struct CourseTime {
  Nanos training{}, evaluating{}, saving{}, idle{};  ///< as in EpochRecord

  Nanos whole() const { return training + evaluating + saving + idle; }
};

/// Of the whole course, from the start or the last resume on.
CourseTime timeOf(const TrainingRecord& training);

/// A part of a training between two pauses. Times are since the training began; time in which an interrupted training
/// did not run is not counted.
struct CoursePart {
  int64_t firstStep = 0, step = 0;  ///< updates at its begin and end
  double firstEpoch = 0, epoch = 0;
  Nanos begin{};
  CourseTime time;  ///< in this order: training, evaluating, saving, idle
  double loss = 0, rate = 0;

  Nanos trained() const { return begin + time.training; }  ///< when its last step ended
  Nanos evaluated() const { return trained() + time.evaluating; }
  Nanos saved() const { return evaluated() + time.saving; }
  Nanos end() const { return begin + time.whole(); }
};

/// The parts of the course. A course that began with a resume begins where the last evaluation before it ended. Empty
/// if the run is no training.
std::vector<CoursePart> partsOf(const RunRecord& record);

/// Passes over the training images within the course. 0 if the run is no training.
double epochsOfCourse(const RunRecord& record);

/// Whether the training made more steps than a record holds losses of, so those of its last steps are not there. False
/// if the run is no training.
bool lacksLastLosses(const RunRecord& record);

/// When update `step` ended, counted from 1, since the training began: steps of a part are taken to be equally long.
/// REQUIRES: parts.
Nanos endOfStep(const std::vector<CoursePart>& parts, int64_t step);

/// The split by which a training is judged: that of its first evaluation. Empty without one.
std::string_view judgedSplit(const TrainingRecord& training);

/// The evaluations of a split, in their order.
std::vector<const EvaluationRecord*> evaluationsOf(const TrainingRecord& training, std::string_view split);

}  // namespace tandem
