#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "measure/metrics/significance.h"
#include "measure/record/record.h"
#include "report/tables/result_table.h"

namespace tandem {

/// Finished runs of one configuration, and how to call them.
struct Side {
  std::string name;
  std::vector<RunRecord> runs;
};

/// The comparison of two sides: what differs between them, then the rates and the judgement; the caveats are notes. Of
/// profiles also the parts of the step that differ.
///
/// With one run of a side its error is that of the steps; with several that between the runs. Throws UsageError where
/// the two did different work (another network, image size or number of classes, forward only), where one exchanges
/// nothing as a control, and where both machine and configuration differ, so that neither can be named as the cause;
/// InvalidMeasurement where a run was not steady or shared cores. REQUIRES: runs on both sides, all finished, those of
/// a side alike in configuration.
std::vector<ResultTable> comparison(const Side& a, const Side& b);

/// The same of runs that took turns, A B B A: judged by `logRatios`, one value per round. Runs that were not valid, not
/// steady or on shared cores are counted in a note: neither side was chosen by them.
std::vector<ResultTable> comparisonInTurns(const Side& a, const Side& b, std::span<const double> logRatios);

/// Whether two runs agree in every option of what is measured and in their threads, and whether in every fact that
/// tells one machine from another. (Library versions and the program's commit are no such facts.)
bool isSameConfiguration(const RunRecord& a, const RunRecord& b);
bool isSameMachine(const RunRecord& a, const RunRecord& b);

/// log(images/s) of a run, its error from its steps; empty when it did not finish or has too few steps.
std::optional<Estimate> logRateOf(const RunRecord& run);

/// The finished runs among `records`. Throws InvalidMeasurement if there are none, and UsageError if they differ in
/// configuration.
Side sideOf(const std::string& name, std::vector<RunRecord> records);

/// Throws UsageError, naming the option, when an image is other work in one of them.
void checkSameWork(const Config& a, const Config& b);

/// Throws UsageError when the runs differ in an option of what is measured, naming it.
void checkOneConfiguration(const std::string& name, std::span<const RunRecord> runs);

/// The same configuration over time: a table for each configuration and machine, its runs in the order of time, each
/// against the one before and against the best so far. Marked as a regression is a run that is slower than one of these
/// two at 99 %. The error of a run is that of its steps or, where runs of one build of the program tell it, how much
/// such runs differ among themselves, if that is more. A run with a caveat (not valid, not steady, shared cores) is
/// shown, but not judged, nor is anything judged by it; nor is one that did not finish.
std::vector<ResultTable> history(std::span<const RunRecord> records);

/// "Is my number right?": the runs beside the two ceilings of their machine, and beside the nearest published figures.
/// A table that nothing is known for is left out.
std::vector<ResultTable> howItComparesTables(std::span<const RunRecord> records);

/// The same of one run in words, a line each.
std::vector<std::string> howItComparesLines(const RunRecord& record);

}  // namespace tandem
