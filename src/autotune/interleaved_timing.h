#pragma once

#include <functional>
#include <limits>
#include <span>
#include <vector>

namespace tandem {

constexpr double worthChanging = 1.03;  ///< times as fast as the first of several ways another must be at least
constexpr double mayWin = 1.5;          ///< times the fastest of the first round: who took longer has no further turn

/// One of several ways to do the same, and what was measured of it.
struct MeasuredWay {
  /// The numbers of one turn, always as many. None where the way does not serve: it has no further turn then, and what
  /// was measured of it before does not count.
  std::function<std::vector<double>()> turn;
  std::vector<std::vector<double>> turns = {};  ///< the numbers of each that counts
  bool isOut = false;                           ///< has no further turn

  /// False where the way does not serve. Throws what `turn` throws.
  bool takeTurn();

  /// Over all turns of each number the least, which is what nothing disturbed, or the median; empty without a turn.
  std::vector<double> least() const;
  std::vector<double> medians() const;
};

/// How often each way has its turn.
struct Rounds {
  int least = 0, most = 5;
  double enoughSeconds =
      std::numeric_limits<double>::infinity();  ///< of all: then no further round is begun, but for the `least`
};

/// In each round every way that is not out has its turn, in order: what disturbs the machine for a while disturbs all
/// alike.
void takeTurns(std::span<MeasuredWay> ways, const Rounds& rounds);

}  // namespace tandem
