#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <numeric>
#include <span>

namespace tandem {

inline double meanOf(std::span<const double> values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

struct CurveNoise {
  size_t smoothing;  ///< steps over which losses are averaged
  double share;      ///< of the expected loss, by which the averages may differ
};

inline void expectSameCurve(std::span<const double> actual, std::span<const double> expected, CurveNoise noise) {
  ASSERT_EQ(actual.size(), expected.size());
  for (size_t end = noise.smoothing; end <= expected.size(); ++end) {
    const double wanted = meanOf(expected.subspan(end - noise.smoothing, noise.smoothing));
    EXPECT_NEAR(meanOf(actual.subspan(end - noise.smoothing, noise.smoothing)), wanted, noise.share * wanted)
        << "smoothed over the " << noise.smoothing << " steps before " << end;
  }
}

}  // namespace tandem
