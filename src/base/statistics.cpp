#include "base/statistics.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <vector>

namespace tandem {
namespace {

constexpr size_t fewestForPercentile = 20;
constexpr size_t fewestForInterval = 5;

/// Value at the fractional rank h of the sorted values, interpolated between its neighbours.
double atRank(const std::vector<double>& sorted, double h) {
  const auto below = static_cast<size_t>(std::floor(h));
  const size_t above = std::min(below + 1, sorted.size() - 1);
  return sorted[below] + (h - static_cast<double>(below)) * (sorted[above] - sorted[below]);
}

std::vector<double> sortedCopy(std::span<const double> values) {
  std::vector<double> sorted(values.begin(), values.end());
  std::sort(sorted.begin(), sorted.end());
  return sorted;
}

/// t(0.975, degrees), error under 1e-5: tabulated below 10, then Abramowitz & Stegun 26.7.5. REQUIRES: degrees >= 4.
double studentT975(size_t degrees) {
  constexpr std::array table{2.7764451, 2.5705818, 2.4469119, 2.3646243, 2.3060041, 2.2621572};
  if (degrees < 4 + table.size()) return table[degrees - 4];
  constexpr double z = 1.959963985, z2 = z * z;
  constexpr double g1 = z * (z2 + 1) / 4;
  constexpr double g2 = z * ((5 * z2 + 16) * z2 + 3) / 96;
  constexpr double g3 = z * (((3 * z2 + 19) * z2 + 17) * z2 - 15) / 384;
  constexpr double g4 = z * ((((79 * z2 + 776) * z2 + 1482) * z2 - 1920) * z2 - 945) / 92160;
  const double x = 1 / static_cast<double>(degrees);
  return z + x * (g1 + x * (g2 + x * (g3 + x * g4)));
}

}  // namespace

std::optional<double> mean(std::span<const double> values) {
  if (values.empty()) return std::nullopt;
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

std::optional<double> median(std::span<const double> values) {
  if (values.empty()) return std::nullopt;
  return atRank(sortedCopy(values), static_cast<double>(values.size() - 1) / 2);
}

std::optional<double> percentile(std::span<const double> values, double percent) {
  if (values.size() < fewestForPercentile) return std::nullopt;
  return atRank(sortedCopy(values), static_cast<double>(values.size() - 1) * percent / 100);
}

std::optional<double> standardDeviation(std::span<const double> values) {
  if (values.size() < 2) return std::nullopt;
  const double center = *mean(values);
  double squares = 0;
  for (const double value : values) squares += (value - center) * (value - center);
  return std::sqrt(squares / static_cast<double>(values.size() - 1));
}

std::optional<Interval> meanInterval95(std::span<const double> values) {
  if (values.size() < fewestForInterval) return std::nullopt;
  const double center = *mean(values);
  const double standardError = *standardDeviation(values) / std::sqrt(static_cast<double>(values.size()));
  const double half = studentT975(values.size() - 1) * standardError;
  return Interval{center - half, center + half};
}

}  // namespace tandem
