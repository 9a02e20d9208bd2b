#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/statistics.h"

namespace tandem {

enum class Finding { faster, slower, cannotTell };

/// Says whether A is faster than B. It decides at 99 %, so one of a hundred comparisons of a thing with itself is
/// wrong. The interval shown is the 95 % interval.
struct Significance {
  Finding finding = Finding::cannotTell;
  double percent = 0;  ///< A's rate above B's
  Interval percent95;
  double detectablePercent = 0;  ///< the lead that 98 of 100 such comparisons would find
};

/// Tests an estimate of log(rate of A / rate of B). Where `tests` such estimates are tested for one answer, each is
/// tested at 1 % / tests, so that the answer is wrong in one of a hundred (Bonferroni).
Significance significanceOf(const Estimate& logRatio, size_t tests = 1);

/// "faster by 3.1 % (95 % interval 2.2 to 4.0 %)", "cannot tell (95 % interval -0.4 to 0.9 %)".
std::string textOf(const Significance& judgement);

/// "a lead of 3.1 % would have been found". Above 100 % it says that the runs are too few. `what`: "lead" or
/// "difference".
std::string detectableText(std::string_view what, double percent);

/// Runs of two configurations are measured in the order A B B A, round after round. A drift that is linear over a round
/// affects both alike. Returns log(A/B) of the geometric means, one value per whole round. `rates` are in the order of
/// measurement.
std::vector<double> logRatiosOfRounds(std::span<const double> rates);

/// The first rounds, and the most that are ever needed: a limit for noisy machines, whose runs differ by some 10 %.
constexpr size_t pilotRounds = 10, mostRounds = 50;

/// Total number of rounds after which 98 of 100 comparisons find a difference of 3 % at 99 %.
/// The formula is n ((t(0.995) + t(0.98)) e / log 1.03)^2. Here n is the number of rounds so far, e the standard error
/// of their mean, and t uses its degrees of freedom. The result is at least n, and at most mostRounds. Call it again
/// after those rounds, because a rare disturbance may come late.
/// The number depends on the spread alone, never on the difference, so stopping favours neither side (after Stein's two
/// stages, 1945). REQUIRES: five to mostRounds rounds.
size_t roundsNeeded(std::span<const double> rounds);

}  // namespace tandem
