#pragma once

#include <optional>
#include <span>

namespace tandem {

/// Arithmetic mean. Empty when there is no value.
std::optional<double> mean(std::span<const double> values);

/// Middle value, or the mean of the two middle ones. Empty when there is no value.
std::optional<double> median(std::span<const double> values);

/// Percentile by linear interpolation between order statistics (Hyndman & Fan type 7), `percent` in [0, 100].
/// Empty below 20 values: a tail of fewer samples says nothing.
std::optional<double> percentile(std::span<const double> values, double percent);

/// Sample standard deviation (n - 1). Empty below two values.
std::optional<double> standardDeviation(std::span<const double> values);

struct Interval {
  double low = 0;
  double high = 0;
};

/// 95 % interval of the mean: mean +- t(0.975, n - 1) * s / sqrt(n), values taken as independent.
/// Empty below five values.
std::optional<Interval> meanInterval95(std::span<const double> values);

}  // namespace tandem
