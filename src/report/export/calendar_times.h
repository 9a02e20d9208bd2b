#pragma once

#include <vector>

#include "measure/metrics/training_course.h"
#include "measure/record/record.h"

namespace tandem {

/// The calendar times of a run, in seconds since 1970, for logs of other programs. The start is known to the second;
/// the others are offsets from it as measured.
struct RunTimes {
  double start = 0;      ///< start of the process
  double firstStep = 0;  ///< begin of warm-up
  double window = 0;     ///< begin of the measured window
  double windowEnd = 0;
  double end = 0;
  std::vector<double> stepEnds;  ///< ends of all steps; warm-up steps are taken to be equally long
};

/// The calendar time of a moment of a training, given since it began. For one that went on from a checkpoint, moments
/// before lie as if it had not been interrupted. REQUIRES: `parts` of the run, at least one.
double calendarTime(const RunTimes& times, const std::vector<CoursePart>& parts, Nanos at);

/// Throws DataError if the record's time cannot be parsed.
RunTimes runTimes(const RunRecord& record);

}  // namespace tandem
