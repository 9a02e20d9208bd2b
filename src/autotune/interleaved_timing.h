#pragma once

#include <functional>
#include <limits>
#include <span>
#include <vector>

namespace tandem {

constexpr double minSpeedup = 1.03;  ///< times as fast as the first of several ways another must be at least
constexpr double eliminationFactor =
    1.5;  ///< times the fastest of the first round: who took longer has no further sample

/// One of several ways to do the same, and what was measured of it.
struct Candidate {
  /// The numbers of one sample, always as many. None where the way does not serve: it has no further sample then, and
  /// what was measured of it before does not count.
  std::function<std::vector<double>()> sample;
  std::vector<std::vector<double>> samples = {};  ///< the numbers of each that counts
  bool eliminated = false;                        ///< has no further sample

  /// False where the way does not serve. Throws what `sample` throws.
  bool takeSample();

  /// Over all samples of each number the least, which is what nothing disturbed, or the median; empty without a sample.
  std::vector<double> least() const;
  std::vector<double> medians() const;
};

/// How often each way has its sample.
struct TimingRounds {
  int least = 0, most = 5;
  double enoughSeconds =
      std::numeric_limits<double>::infinity();  ///< of all: then no further round is begun, but for the `least`
};

/// In each round every way that is not out has its sample, in order: what disturbs the machine for a while disturbs all
/// alike.
void timeInterleaved(std::span<Candidate> ways, const TimingRounds& rounds);

}  // namespace tandem
