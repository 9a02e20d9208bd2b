#pragma once

#include <cmath>
#include <optional>

#include "measure/metrics/training_course.h"

namespace tandem {

// Formulas of the metric table that are of trainings alone. Empty for other runs.

/// A figure of the last evaluation of the split by which the training is judged.
template <double EvaluationRecord::*figure>
std::optional<double> lastFigure(const RunRecord& record, const RunRecord*) {
  if (!record.training) return {};
  const auto evaluations = evaluationsOf(*record.training, judgedSplit(*record.training));
  if (evaluations.empty() || evaluations.back()->*figure == EvaluationRecord::none) return {};
  return evaluations.back()->*figure;
}

enum class Best { highest, lowest };

/// The best of a figure over the evaluations of that split.
template <double EvaluationRecord::*figure, Best best>
std::optional<double> bestFigure(const RunRecord& record, const RunRecord*) {
  std::optional<double> found;
  if (!record.training) return found;
  for (const EvaluationRecord* evaluation : evaluationsOf(*record.training, judgedSplit(*record.training))) {
    const double value = evaluation->*figure;
    if (value == EvaluationRecord::none || !std::isfinite(value)) continue;
    if (!found || (best == Best::highest ? value > *found : value < *found)) found = value;
  }
  return found;
}

/// Seconds per epoch: of the steps alone, and with all between.
std::optional<double> trainingSecondsPerEpoch(const RunRecord& record, const RunRecord*);
std::optional<double> wholeSecondsPerEpoch(const RunRecord& record, const RunRecord*);

/// Seconds until --stop-at was reached.
std::optional<double> secondsToTarget(const RunRecord& record, const RunRecord*);

/// In percent of the course: time between steps and evaluations in which neither runs, if there are evaluations; and
/// time that training waited for checkpoints, if there are any.
std::optional<double> idlePercent(const RunRecord& record, const RunRecord*);
std::optional<double> savingPercent(const RunRecord& record, const RunRecord*);

}  // namespace tandem
