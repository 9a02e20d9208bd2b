#pragma once

#include <cstddef>
#include <optional>
#include <span>

namespace tandem {

/// A place in a series where its level changes.
struct ChangePoint {
  size_t at = 0;      ///< index of the first value of the new level
  double before = 0;  ///< median of the values before
  double after = 0;   ///< median of the values from there on
};

/// Finds the clearest change of level of a time series; a drift counts as one. Empty if there is none, and below 20
/// values.
/// It tries every split into k and n - k values, except within five values, or n / 20, of either end. It takes the
/// split with the largest |sum of the first k ranks less their mean| / sqrt(k (n - k) / n). Ranks are used so that
/// single slow steps make no level (Pettitt 1979). The weight makes changes near the ends visible too (Andrews 1993).
/// The change counts if that value is above 4 standard deviations of the ranks about the means of their sides. These
/// deviations use blocks, as estimateMean() does, because of autocorrelation. The medians of the two sides must also
/// differ by more than `least` of the smaller.
std::optional<ChangePoint> changeIn(std::span<const double> series, double least);

}  // namespace tandem
