#pragma once

#include <vector>

#include "measure/record/record.h"

namespace tandem {

/// A run on the calendar, seconds since 1970, for the logs of other programs. The start is known to the second only;
/// the rest lies behind it as measured.
struct RunTimes {
  double start = 0;      ///< of the process
  double firstStep = 0;  ///< warm-up begins
  double window = 0;     ///< measuring begins
  double windowEnd = 0;
  double end = 0;
  std::vector<double> stepEnds;  ///< of all steps; those of warm-up as if they had been equally long
};

/// Throws DataError when the record's time is none.
RunTimes runTimes(const RunRecord& record);

}  // namespace tandem
