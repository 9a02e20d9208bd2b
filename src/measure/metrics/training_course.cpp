#include "measure/metrics/training_course.h"

#include <algorithm>

#include "base/error.h"

namespace tandem {
namespace {

/// When the last evaluation before the resume ended.
Nanos resumedAfter(const TrainingRecord& training) {
  Nanos last{};
  for (const EvaluationRecord& evaluation : training.evaluations) {
    if (evaluation.step <= training.resumedAt) last = std::max(last, evaluation.at);
  }
  return last;
}

/// When the evaluation after update `step` ended; 0: there was none.
Nanos evaluatedAfter(const TrainingRecord& training, int64_t step) {
  const auto found = std::ranges::find(training.evaluations, step, &EvaluationRecord::step);
  return found == training.evaluations.end() ? Nanos{} : found->at;
}

/// Passes over the images until the resume.
double resumedEpoch(const RunRecord& record) {
  const TrainingRecord& training = *record.training;
  if (training.resumedAt <= 0) return 0;
  const double passes = static_cast<double>(training.resumedAt) * static_cast<double>(record.globalBatch) /
                        static_cast<double>(training.images);
  return training.course.empty() ? passes : std::min(passes, training.course.front().epoch);
}

}  // namespace

CourseTime timeOf(const TrainingRecord& training) {
  CourseTime sum;
  for (const EpochRecord& epoch : training.course) {
    sum.training += epoch.training, sum.evaluating += epoch.evaluating;
    sum.saving += epoch.saving, sum.idle += epoch.idle;
  }
  return sum;
}

std::vector<CoursePart> partsOf(const RunRecord& record) {
  if (!record.training) return {};
  std::vector<CoursePart> parts;
  int64_t step = std::max<int64_t>(0, record.training->resumedAt);
  double epoch = resumedEpoch(record);
  Nanos begin = resumedAfter(*record.training);
  for (const EpochRecord& each : record.training->course) {
    parts.push_back({.firstStep = step,
                     .step = each.step,
                     .firstEpoch = epoch,
                     .epoch = each.epoch,
                     .begin = begin,
                     .time = {each.training, each.evaluating, each.saving, each.idle},
                     .loss = each.loss,
                     .rate = each.rate});
    step = each.step, epoch = each.epoch;
    begin = std::max(parts.back().end(), evaluatedAfter(*record.training, step) + each.saving);
  }
  return parts;
}

double epochsOfCourse(const RunRecord& record) {
  if (!record.training || record.training->course.empty()) return 0;
  return record.training->course.back().epoch - resumedEpoch(record);
}

bool lacksLastLosses(const RunRecord& record) {
  if (!record.training || record.training->course.empty()) return false;
  const int64_t made = record.training->steps - std::max<int64_t>(0, record.training->resumedAt);
  return made > static_cast<int64_t>(record.losses.size());
}

Nanos endOfStep(const std::vector<CoursePart>& parts, int64_t step) {
  check(!parts.empty(), "a course has parts");
  const auto found = std::ranges::find_if(parts, [&](const CoursePart& part) { return step <= part.step; });
  const CoursePart& part = found == parts.end() ? parts.back() : *found;
  const int64_t steps = part.step - part.firstStep;
  if (steps <= 0 || step >= part.step) return part.trained();
  const double share = static_cast<double>(std::max<int64_t>(0, step - part.firstStep)) / static_cast<double>(steps);
  return part.begin + Nanos(static_cast<int64_t>(share * static_cast<double>(part.time.training.count())));
}

std::string_view judgedSplit(const TrainingRecord& training) {
  return training.evaluations.empty() ? std::string_view() : training.evaluations.front().split;
}

std::vector<const EvaluationRecord*> evaluationsOf(const TrainingRecord& training, std::string_view split) {
  std::vector<const EvaluationRecord*> found;
  for (const EvaluationRecord& evaluation : training.evaluations) {
    if (evaluation.split == split) found.push_back(&evaluation);
  }
  return found;
}

}  // namespace tandem
