#pragma once

#include <cstddef>
#include <optional>
#include <span>

namespace tandem {

/// A place in a series from which on it runs at another level.
struct ChangePoint {
  size_t at = 0;      ///< index of the first value of the new level
  double before = 0;  ///< median of the values before
  double after = 0;   ///< median of the values from there on
};

/// The clearest change of level of a series in the order of time, a drift being one too; empty where there is none, and
/// below 20 values. Of all splits into k and n - k values, five values and a twentieth of the series from either end at
/// least, the one where |sum of the first k ranks less their mean| / sqrt(k (n - k) / n) is largest; ranks, so that
/// single slow steps make no level (Pettitt 1979), weighted so that changes near the ends are seen too (Andrews 1993).
/// It counts when that is above 4 standard deviations of the ranks about the means of their sides, taken by blocks as
/// in estimateMean() because neighbours resemble each other, and when the medians of the sides differ by more than
/// `least` of the smaller.
std::optional<ChangePoint> changeIn(std::span<const double> series, double least);

}  // namespace tandem
