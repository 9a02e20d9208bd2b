#pragma once

#include <span>
#include <string>
#include <vector>

#include "measure/record/record.h"

namespace tandem {

/// The conclusion on runs whose rates may be ranked together (byWork() in report/analysis/run_groups.h).
struct Verdict {
  std::string work;     ///< "model=resnet20 precision=bf16"; empty if all runs do the same work
  std::string finding;  ///< one line without its line end
  std::string repeat;   ///< the command that measures the leaders again; empty if one is of another program
  const RunRecord* fastest = nullptr;  ///< the typical run of the point with the highest rate
  /// A run of each point that may be the fastest, the highest rate first. One: it is told apart from the rest.
  std::vector<const RunRecord*> leaders;
};

/// A verdict for each work, in the order of the records; at least one.
///
/// A point's repeats are compared with those of the point with the highest median rate, at 1 % / (points - 1) / looks
/// (LogRatio::looks()). So a set of equal points loses one of them in at most one of a hundred sweeps, or two where
/// bench looked after each round. Bonferroni's correction is taken, because the leader is chosen from the same rates,
/// which Holm's steps do not allow for. Points with one run each are never told apart. Of two points that are not told
/// apart, alone, the finding gives the ratio of their rates with its 95 % interval.
std::vector<Verdict> verdictsOn(std::span<const RunRecord> records);

/// The same over works that differ in rounding alone, where the error of each point is known (--verify), which is said
/// with its rate. There are none without several precisions. No point of them is measured again for such a verdict.
std::vector<Verdict> verdictsAcrossRounding(std::span<const RunRecord> records);

/// Work and finding in one line without its line end.
std::string findingText(const Verdict& verdict);
/// The same with the command.
std::string textOf(const Verdict& verdict);
/// The texts of all verdicts, a line each as withoutControls() gives it, without the last line end.
std::string verdictText(std::span<const RunRecord> records);

}  // namespace tandem
