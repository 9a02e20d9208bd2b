#pragma once

#include <functional>
#include <limits>
#include <span>
#include <vector>

namespace tandem {

constexpr double minSpeedup = 1.03;        ///< a candidate replaces the first one only if it is this many times as fast
constexpr double eliminationFactor = 1.5;  ///< a candidate slower than this many times the first round's fastest is out

/// One of several alternatives, with its measurements.
struct Candidate {
  /// Takes one sample: a fixed number of numbers. An empty sample means that the candidate cannot run; then it is
  /// eliminated and its earlier samples are dropped.
  std::function<std::vector<double>()> sample;
  std::vector<std::vector<double>> samples = {};  ///< the numbers of each sample
  bool eliminated = false;                        ///< gets no further sample

  /// Returns false if the candidate cannot run. Throws what `sample` throws.
  bool takeSample();

  /// Summaries of each number over all samples: the least, which is the undisturbed value, and the median. Empty
  /// without a sample.
  std::vector<double> least() const;
  std::vector<double> medians() const;

  /// By how much the sum of a typical sample is above that of the least, relative to the least; 0 without a sample.
  double spread() const;
};

/// Limits on the number of samples.
struct TimingRounds {
  int least = 0, most = 5;
  /// Seconds of all samples after which no further round begins, except the first `least` rounds.
  double enoughSeconds = std::numeric_limits<double>::infinity();
};

/// In each round, every candidate that is not eliminated takes a sample, in order. So a temporary disturbance affects
/// all alike.
void timeInterleaved(std::span<Candidate> ways, const TimingRounds& rounds);

}  // namespace tandem
