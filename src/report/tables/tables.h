#pragma once

#include <span>
#include <string>
#include <vector>

#include "measure/profile/gpu_timeline.h"
#include "measure/record/record.h"
#include "report/runs.h"
#include "report/tables/result_table.h"

namespace tandem {

struct EnvironmentFact {
  std::string name, value;

  bool operator==(const EnvironmentFact&) const = default;
};

/// What makes one environment another, in a fixed order. Free memory and load, which differ from run to run, are left
/// out. What could not be read is "unknown".
std::vector<EnvironmentFact> factsOf(const Environment& environment);

/// What the runs were measured on, a row per fact and a column per different environment, with the rows of the sweep's
/// table that it belongs to. The load before the runs is given as a range.
ResultTable environmentTable(std::span<const RunRecord> records);

/// What the first device of a profile did in a step: its kernels and copies, the operations of the plan that they ran
/// for, with what both achieve of the device's peaks, and its gaps; all devices are in the notes. None where nothing is
/// known of a device. Titles end with `of`.
std::vector<ResultTable> kernelTables(const DeviceProfile& profile, const std::string& of);

/// Of each run with --profile: the parts of its step by replica, with who arrives last, the work per step beside the
/// measured peaks, when each replica comes to each exchange, and what a GPU did (kernelTables()). Titles
/// name the run as the rows of buildTable(records) do.
std::vector<ResultTable> profileTables(std::span<const RunRecord> records);

/// Which parts of the step differ between two profiles by 1 % of the step or more, the largest difference first;
/// waiting, which follows from others, last.
ResultTable changedParts(const Profile& a, const Profile& b);

/// Mean time of a step and its parts, a row per run.
std::vector<ResultTable> stepPartsTables(const ReportRuns& runs);

/// Percentiles of the step times, a row per run, and their histograms.
std::vector<ResultTable> stepTimesTables(const ReportRuns& runs);

/// A table per run: the median of each quantity of each device in each phase. Charts over time mark the phases.
std::vector<ResultTable> telemetryTables(const ReportRuns& runs);

}  // namespace tandem
