#include "autotune/interleaved_timing.h"

#include <algorithm>
#include <numeric>

#include "base/clock.h"
#include "base/statistics.h"

namespace tandem {
namespace {

/// Summarises each number over all samples.
template <class Summary>
std::vector<double> overTurns(const std::vector<std::vector<double>>& samples, const Summary& summary) {
  std::vector<double> all;
  const size_t numbers = samples.empty() ? 0 : samples.front().size();
  for (size_t i = 0; i < numbers; ++i) {
    std::vector<double> values;
    for (const std::vector<double>& sample : samples) values.push_back(sample.at(i));
    all.push_back(summary(values));
  }
  return all;
}

}  // namespace

bool Candidate::takeSample() {
  std::vector<double> numbers = sample();
  if (numbers.empty()) {
    eliminated = true;
    samples.clear();
    return false;
  }
  samples.push_back(std::move(numbers));
  return true;
}

std::vector<double> Candidate::least() const {
  return overTurns(samples, [](const std::vector<double>& values) { return *std::ranges::min_element(values); });
}

std::vector<double> Candidate::medians() const {
  return overTurns(samples, [](const std::vector<double>& values) { return *median(values); });
}

double Candidate::spread() const {
  std::vector<double> sums;
  for (const std::vector<double>& sample : samples) sums.push_back(std::accumulate(sample.begin(), sample.end(), 0.0));
  if (sums.empty()) return 0;
  const double least = *std::ranges::min_element(sums);
  return least > 0 ? *median(sums) / least - 1 : 0;
}

void timeInterleaved(std::span<Candidate> ways, const TimingRounds& rounds) {
  const Nanos begin = now();
  const auto isEnough = [&](int done) {
    return done >= rounds.most || (done >= rounds.least && seconds(now() - begin) >= rounds.enoughSeconds);
  };
  for (int round = 0; !isEnough(round); ++round) {
    for (Candidate& way : ways) {
      if (!way.eliminated) way.takeSample();
    }
  }
}

}  // namespace tandem
