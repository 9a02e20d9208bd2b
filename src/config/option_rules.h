#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/text.h"
#include "config/config.h"

namespace tandem::rules {

/// Rules on one field, for Option::check: empty, or the text of the violation. Bounds are inclusive unless the name
/// says otherwise. Upper bounds keep products of options, such as memory estimates, far from overflow.
using Breach = std::optional<std::string>;

inline constexpr int64_t mostClasses = 1'000'000;

template <auto field, int64_t low, int64_t high>
Breach within(const Config& config) {
  if (config.*field < low) return concat("must be at least ", low);
  if (config.*field > high) return concat("must be at most ", high);
  return std::nullopt;
}

template <auto field, int64_t low, int64_t high>
Breach zeroOrWithin(const Config& config) {
  if (config.*field == 0) return std::nullopt;
  if (config.*field < low) return concat("must be 0 or at least ", low);
  return within<field, low, high>(config);
}

template <auto field>
Breach positive(const Config& config) {
  if (config.*field > 0) return std::nullopt;
  return "must be above 0";
}

/// At least 0 and below 1.
template <auto field>
Breach fraction(const Config& config) {
  if (config.*field >= 0 && config.*field < 1) return std::nullopt;
  return "must be at least 0 and below 1";
}

Breach bucket(const Config& config);
Breach devices(const Config& config);
Breach parameterDevice(const Config& config);
Breach head(const Config& config);
Breach warmup(const Config& config);
Breach out(const Config& config);
Breach saveWeights(const Config& config);
Breach trace(const Config& config);

}  // namespace tandem::rules
