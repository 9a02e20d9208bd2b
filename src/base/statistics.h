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

/// Quantile of Student's t: the t below which a share `probability`, in (0.5, 1), of the distribution lies. By
/// bisection of the finite sums of Abramowitz & Stegun 26.7.3 and 26.7.4. REQUIRES: degrees >= 1.
double studentT(double probability, size_t degrees);

struct Interval {
  double low = 0;
  double high = 0;
};

/// A number with what is known of its error: its standard error, and from how many free values that was estimated.
struct Estimate {
  double value = 0;
  double standardError = 0;
  size_t degrees = 1;
};

/// Mean of a series in the order of time, its error by the circular block bootstrap (Politis & Romano 1992), which
/// allows for neighbours that resemble each other. Block length by Carlstein's rule for a first-order autoregression
/// (1986), (sqrt(6) r / (1 - r^2))^(2/3) n^(1/3), r the correlation of neighbours; at most n / 5. The bootstrap's
/// variance of the mean has a closed form, so nothing is drawn: the same series gives the same error. Values that do
/// not resemble their neighbours make blocks of one, and the error s / sqrt(n). Empty below five values.
std::optional<Estimate> estimateMean(std::span<const double> series);

/// a - b of two independent estimates; degrees of freedom by Welch and Satterthwaite.
Estimate difference(const Estimate& a, const Estimate& b);

/// value +- t * standard error, so that a share `confidence` of such intervals holds the true value.
Interval intervalOf(const Estimate& estimate, double confidence);

}  // namespace tandem
