#pragma once

#include <span>
#include <string>
#include <vector>

#include "base/statistics.h"

namespace tandem {

enum class Finding { faster, slower, cannotTell };

/// Whether A is faster than B: decided at 99 %, so that of a hundred comparisons of a thing with itself one is wrong;
/// the interval shown is that of 95 %.
struct Significance {
  Finding finding = Finding::cannotTell;
  double percent = 0;  ///< by which A's rate is above B's
  Interval percent95;
};

/// Judges an estimate of log(rate of A / rate of B).
Significance judge(const Estimate& logRatio);

/// "faster by 3.1 % (95 % interval 2.2 to 4.0 %)", "cannot tell (95 % interval -0.4 to 0.9 %)".
std::string textOf(const Significance& judgement);

/// Runs of two configurations are taken in the order A B B A, round after round: a drift of the machine that is steady
/// over a round touches both alike. One value per whole round, log(A/B) of the geometric means; `rates` in the order in
/// which they were measured.
std::vector<double> logRatiosOfRounds(std::span<const double> rates);

constexpr size_t pilotRounds = 10;

/// TimingRounds in all after which a difference of 3 % is found, at 99 %, in 98 of 100 comparisons, going by the rounds
/// so far: n ((t(0.995) + t(0.98)) e / log 1.03)^2, n their number, e the standard error of their mean, t for its
/// degrees of freedom; at least as many as there are. To be asked anew when they are measured, because a rare
/// disturbance may come late. The number depends on the spread alone, never on the difference, so that stopping favours
/// neither side (after Stein's two stages, 1945). REQUIRES: five rounds or more.
size_t roundsNeeded(std::span<const double> rounds);

}  // namespace tandem
