#include "measure/metrics/training_metrics.h"

namespace tandem {
namespace {

std::optional<double> perEpoch(const RunRecord& record, Nanos time) {
  const double epochs = epochsOfCourse(record);
  if (!(epochs > 0)) return {};
  return seconds(time) / epochs;
}

std::optional<double> percentOfCourse(const TrainingRecord& training, Nanos CourseTime::*part) {
  const CourseTime time = timeOf(training);
  if (time.whole() <= Nanos{}) return {};
  return 100 * seconds(time.*part) / seconds(time.whole());
}

}  // namespace

std::optional<double> trainingSecondsPerEpoch(const RunRecord& record, const RunRecord*) {
  if (!record.training) return {};
  return perEpoch(record, timeOf(*record.training).training);
}

std::optional<double> wholeSecondsPerEpoch(const RunRecord& record, const RunRecord*) {
  if (!record.training) return {};
  return perEpoch(record, timeOf(*record.training).whole());
}

std::optional<double> secondsToTarget(const RunRecord& record, const RunRecord*) {
  if (!record.training || record.training->toTarget <= Nanos{}) return {};
  return seconds(record.training->toTarget);
}

std::optional<double> idlePercent(const RunRecord& record, const RunRecord*) {
  if (!record.training || record.training->evaluations.empty()) return {};
  return percentOfCourse(*record.training, &CourseTime::idle);
}

std::optional<double> savingPercent(const RunRecord& record, const RunRecord*) {
  if (!record.training || record.training->checkpoints == 0) return {};
  return percentOfCourse(*record.training, &CourseTime::saving);
}

}  // namespace tandem
