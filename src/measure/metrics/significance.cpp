#include "measure/metrics/significance.h"

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "base/text.h"

namespace tandem {
namespace {

constexpr double decisive = 0.99, shownConfidence = 0.95;
constexpr double smallestEffect = 0.03, power = 0.98;

double percentOf(double logRatio) { return 100 * std::expm1(logRatio); }

/// The logarithm that `power` of all comparisons with this error find at `confidence`.
double detectable(const Estimate& logRatio, double confidence) {
  return (studentT((1 + confidence) / 2, logRatio.degrees) + studentT(power, logRatio.degrees)) *
         logRatio.standardError;
}

}  // namespace

Significance significanceOf(const Estimate& logRatio, size_t tests) {
  const double confidence = 1 - (1 - decisive) / static_cast<double>(std::max<size_t>(1, tests));
  const Interval sure = intervalOf(logRatio, confidence), shown = intervalOf(logRatio, shownConfidence);
  Significance judgement{Finding::cannotTell,
                         percentOf(logRatio.value),
                         {percentOf(shown.low), percentOf(shown.high)},
                         percentOf(detectable(logRatio, confidence))};
  if (sure.low > 0) judgement.finding = Finding::faster;
  if (sure.high < 0) judgement.finding = Finding::slower;
  return judgement;
}

std::string textOf(const Significance& judgement) {
  const auto& [low, high] = judgement.percent95;
  const auto interval = [](double from, double to) {
    return concat(" (95 % interval ", fixed(from, 1), " to ", fixed(to, 1), " %)");
  };
  switch (judgement.finding) {
    case Finding::faster:
      return concat("faster by ", fixed(judgement.percent, 1), " %", interval(low, high));
    case Finding::slower:
      return concat("slower by ", fixed(-judgement.percent, 1), " %", interval(-high, -low));
    case Finding::cannotTell:
      return "cannot tell" + interval(low, high);
  }
  throw InternalError("a finding without a text");
}

std::string detectableText(std::string_view what, double percent) {
  if (percent > 100) return concat("so few runs, as different as these, would not find a ", what, " of 100 %");
  return concat("a ", what, " of ", fixed(percent, 1), " % would have been found");
}

std::vector<double> logRatiosOfRounds(std::span<const double> rates) {
  std::vector<double> ratios;
  for (size_t i = 0; i + 4 <= rates.size(); i += 4) {
    ratios.push_back((std::log(rates[i]) - std::log(rates[i + 1]) - std::log(rates[i + 2]) + std::log(rates[i + 3])) /
                     2);
  }
  return ratios;
}

size_t roundsNeeded(std::span<const double> rounds) {
  const auto average = estimateMean(rounds);
  check(average.has_value(), "roundsNeeded: five rounds or more");
  const double factor = std::pow(detectable(*average, decisive) / std::log1p(smallestEffect), 2);
  const double needed = std::ceil(factor * static_cast<double>(rounds.size()));
  return static_cast<size_t>(std::clamp<double>(needed, static_cast<double>(rounds.size()), mostRounds));
}

}  // namespace tandem
