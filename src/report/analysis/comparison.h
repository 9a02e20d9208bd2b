#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "measure/metrics/significance.h"
#include "measure/record/record.h"
#include "report/runs.h"
#include "report/tables/result_table.h"

namespace tandem {

/// Finished runs of one configuration, with a name for messages.
struct Side {
  std::string name;
  std::vector<RunRecord> runs;
};

/// Compares two sides: first their differences, then rates and verdict, with the caveats as notes. For profiles also
/// the parts of the step that differ.
/// The error is that between the runs (ratioOf() in run_groups.h). With one run of a side it is not known, so nothing
/// is said to be faster; a note then says by how much runs of one configuration differ (`spread`, spreadOfRepeats()).
/// Throws UsageError if the sides did different work: options whose variation is work, or a network with other
/// parameters, FLOPs or file. Throws UsageError if one side is a control without exchange. Throws UsageError if both
/// machine and configuration differ, or a side has runs of several machines, because then neither is known to be the
/// cause. Throws UsageError if a run is in both sides. Throws InvalidMeasurement if no run of a side is to be quoted:
/// valid, steady and on cores of its own; those that are not are left out, with a note. REQUIRES: both sides have runs,
/// all finished, and the runs of a side have one configuration.
std::vector<ResultTable> comparisonTables(const Side& a, const Side& b, std::optional<double> spread = {});

/// Like comparisonTables(), for runs in the order A B B A. The verdict comes from `logRatios`, one value per round.
/// Runs that were not valid, not checked, not steady or on shared cores are counted in a note. They are not refused,
/// because leaving them out would favour a side.
std::vector<ResultTable> comparisonInTurns(const Side& a, const Side& b, std::span<const double> logRatios);

/// The fewest runs of a bench --compare that are judged: five rounds, the least for an interval.
constexpr size_t fewestComparedRuns = 20;

/// comparisonInTurns() of the last bench --compare among `records`, whose runs have a side. Throws UsageError, which
/// names `where` and rows of `file`, if there is none, or if it has fewer than five whole rounds.
std::vector<ResultTable> storedComparison(const std::string& where, const std::string& file,
                                          std::span<const RunRecord> records);

/// Its verdict in one line; empty where storedComparison() would throw.
std::string comparisonFinding(std::span<const RunRecord> records);

/// Whether two runs agree in every option of the measurement and in their threads, and whether they agree in every fact
/// that identifies a machine. Library versions and the program's commit are not such facts.
bool isSameConfiguration(const RunRecord& a, const RunRecord& b);
bool isSameMachine(const RunRecord& a, const RunRecord& b);

/// The finished runs among `records`. Throws InvalidMeasurement if there are none, and UsageError if they differ in
/// configuration.
Side sideOf(const std::string& name, std::vector<RunRecord> records);

/// Throws UsageError, which names the option, if images are different work in the two.
void checkSameWork(const Config& a, const Config& b);

/// Throws UsageError, which names the option, if the runs differ in an option of the measurement.
void checkOneConfiguration(const std::string& name, std::span<const RunRecord> runs);

/// Each configuration over time: a table per configuration and machine, with its runs in time order. Each run is
/// compared with the one before and with the best so far. A run that is slower than either at 99 % is marked as a
/// regression.
/// The error of a run is the spread between runs of one build, pooled over the builds. With fewer than three degrees of
/// freedom it is not known, and nothing is judged. Runs with a caveat (not valid, not steady, shared cores) and
/// unfinished runs are shown, but they are neither judged nor used as a reference.
std::vector<ResultTable> historyTables(std::span<const RunRecord> records);

/// "Is my number right?": compares the runs with the two ceilings of their machine and with the nearest published
/// figures. A table without rows is left out.
std::vector<ResultTable> howItComparesTables(const ReportRuns& runs);

/// The same for one run, as sentences.
std::vector<std::string> howItComparesLines(const RunRecord& record);

}  // namespace tandem
