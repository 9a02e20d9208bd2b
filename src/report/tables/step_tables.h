#pragma once

#include <vector>

#include "report/runs.h"
#include "report/tables/result_table.h"

namespace tandem {

/// Mean time of a step and its parts, a row per run.
std::vector<ResultTable> stepPartsTables(const ReportRuns& runs);

/// Percentiles of the step times, a row per run, and their histograms.
std::vector<ResultTable> stepTimesTables(const ReportRuns& runs);

/// A table per run: the median of each quantity of each device in each phase. Charts over time mark the phases.
std::vector<ResultTable> telemetryTables(const ReportRuns& runs);

}  // namespace tandem
