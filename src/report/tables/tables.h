#pragma once

#include <span>
#include <string>
#include <vector>

#include "measure/profile/gpu_timeline.h"
#include "measure/record/record.h"
#include "report/runs.h"
#include "report/tables/result_table.h"

namespace tandem {

/// What a fact of an environment belongs to.
enum class FactOf { machine, build, conditions };

struct EnvironmentFact {
  std::string name, value;
  FactOf of = FactOf::conditions;

  bool operator==(const EnvironmentFact&) const = default;
};

/// The facts that identify an environment, in a fixed order. Free memory and load differ from run to run and are left
/// out. A fact that could not be read is "unknown".
std::vector<EnvironmentFact> factsOf(const Environment& environment);

/// The same of all hosts of a run: a fact in which they differ has the value of each, "4; 8", rank 0's host first.
std::vector<EnvironmentFact> factsOf(const RunRecord& record);

/// The environments of the runs: a row per fact, a column per environment with the rows of the sweep's table that used
/// it. The load before the runs is a range.
ResultTable environmentTable(const ReportRuns& runs);

/// The work of a profile's first device in a step: kernels and copies, operations of the plan, and gaps. Kernels and
/// operations have their share of the device's peaks. All devices are in the notes. Empty if nothing is known of a
/// device. Titles end with `of`.
std::vector<ResultTable> kernelTables(const DeviceProfile& profile, const std::string& of);

/// The work of a CPU replica in a step: the longest calls of the plan, and all calls by their kind of operation. Both
/// have shares of the replica's part of the measured peaks. Titles end with `of`. REQUIRES: a profile with a host
/// timeline.
std::vector<ResultTable> callTables(const RunRecord& record, const std::string& of);

/// The tables of each run with --profile. Titles name the run by its row.
/// - The parts of a step by replica, with the replica that arrives last.
/// - The work of a step beside the measured peaks.
/// - The time at which each replica reaches each exchange.
/// - callTables() on CPUs, kernelTables() on GPUs.
std::vector<ResultTable> profileTables(const ReportRuns& runs);

/// The parts that differ between two profiles by at least 1 % of the step, the largest difference first. Waiting
/// follows from other parts, so it comes last.
ResultTable changedParts(const Profile& a, const Profile& b);

/// Runs of one replica that differ in their device alone: the rate of each device in % of the first, a table for each
/// such work. Repeats of a device are its median.
std::vector<ResultTable> deviceRateTables(const ReportRuns& runs);

/// How long the runs with --data wait for their batches, and what an epoch takes, a row per run. Empty without such a
/// run.
std::vector<ResultTable> inputTables(const ReportRuns& runs);

/// One line: whether waiting for batches limits a run with --data, and by how much. Empty for other runs.
std::vector<std::string> inputLines(const RunRecord& record);

/// Mean time of a step and its parts, a row per run.
std::vector<ResultTable> stepPartsTables(const ReportRuns& runs);

/// Percentiles of the step times, a row per run, and their histograms.
std::vector<ResultTable> stepTimesTables(const ReportRuns& runs);

/// A table per run and host: the median of each quantity of each device in each phase. Charts over time mark the
/// phases.
std::vector<ResultTable> telemetryTables(const ReportRuns& runs);

}  // namespace tandem
