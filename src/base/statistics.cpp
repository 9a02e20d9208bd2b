#include "base/statistics.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <numeric>
#include <vector>

#include "base/error.h"

namespace tandem {
namespace {

constexpr size_t fewestForPercentile = 20;
constexpr size_t fewestForInterval = 5;

/// Value at the fractional rank `h` of the sorted values, interpolated between its two neighbours.
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

/// Probability that Student's t lies between -t and t. Each term of the sum follows from the one before it.
double shareWithin(double t, size_t degrees) {
  const double angle = std::atan(t / std::sqrt(static_cast<double>(degrees)));
  const double cosine = std::cos(angle);
  const bool odd = degrees % 2 == 1;
  double term = odd ? cosine : 1, sum = odd && degrees == 1 ? 0 : term;
  for (size_t i = odd ? 3 : 2; i + 1 < degrees; i += 2) {
    term *= static_cast<double>(i - 1) / static_cast<double>(i) * cosine * cosine;
    sum += term;
  }
  return odd ? 2 / std::numbers::pi * (angle + std::sin(angle) * sum) : std::sin(angle) * sum;
}

/// Lag-1 autocorrelation.
double neighbourCorrelation(std::span<const double> series, double center) {
  double products = 0, squares = 0;
  for (size_t i = 0; i < series.size(); ++i) {
    const double from = series[i] - center;
    squares += from * from;
    if (i > 0) products += from * (series[i - 1] - center);
  }
  return squares > 0 ? products / squares : 0;
}

size_t blockLength(std::span<const double> series, double center) {
  constexpr double strongest = 0.99;
  // At r = 1 the formula has no bound. A negative r makes the mean more certain, which blocks of one leave unused.
  const double r = std::min(neighbourCorrelation(series, center), strongest);
  if (r <= 0) return 1;
  const double length = 2 * std::cbrt(6 * r * r / ((1 - r * r) * (1 - r * r)) * static_cast<double>(series.size()));
  const size_t longest = series.size() / 5;
  return std::clamp<size_t>(static_cast<size_t>(std::lround(length)), 1, longest);
}

/// Mean square of (mean of a block - center) over all blocks. The series is taken as a circle.
double varianceOfBlocks(std::span<const double> series, double center, size_t length) {
  double sum = 0, squares = 0;
  for (size_t i = 0; i < length; ++i) sum += series[i] - center;
  for (size_t i = 0; i < series.size(); ++i) {
    squares += sum * sum;
    sum += series[(i + length) % series.size()] - series[i];
  }
  const double size = static_cast<double>(length);
  return squares / static_cast<double>(series.size()) / (size * size);
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

double studentT(double probability, size_t degrees) {
  check(probability > 0.5 && probability < 1 && degrees >= 1, "studentT: probability in (0.5, 1), degrees >= 1");
  const double wanted = 2 * probability - 1;
  double low = 0, high = 1;
  while (shareWithin(high, degrees) < wanted) high *= 2;
  for (int i = 0; i < 60; ++i) {
    const double middle = (low + high) / 2;
    (shareWithin(middle, degrees) < wanted ? low : high) = middle;
  }
  return high;
}

std::optional<Estimate> estimateMean(std::span<const double> series) {
  if (series.size() < fewestForInterval) return std::nullopt;
  const double center = *mean(series);
  const size_t length = blockLength(series, center);
  const size_t blocks = series.size() / length;
  const double variance = varianceOfBlocks(series, center, length) / static_cast<double>(blocks - 1);
  return Estimate{center, std::sqrt(variance), blocks - 1};
}

std::optional<Estimate> estimateOfRepeats(std::span<const double> values) {
  const auto deviation = standardDeviation(values);
  if (!deviation) return std::nullopt;
  return Estimate{*mean(values), *deviation / std::sqrt(static_cast<double>(values.size())), values.size() - 1};
}

Estimate difference(const Estimate& a, const Estimate& b) {
  const double first = a.standardError * a.standardError, second = b.standardError * b.standardError;
  const double parts =
      first * first / static_cast<double>(a.degrees) + second * second / static_cast<double>(b.degrees);
  const double sum = first + second;
  const double degrees = parts > 0 ? sum * sum / parts : static_cast<double>(a.degrees + b.degrees);
  return {a.value - b.value, std::sqrt(sum), std::max<size_t>(1, static_cast<size_t>(degrees))};
}

Interval intervalOf(const Estimate& estimate, double confidence) {
  const double half = studentT((1 + confidence) / 2, estimate.degrees) * estimate.standardError;
  return {estimate.value - half, estimate.value + half};
}

}  // namespace tandem
