#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/text.h"
#include "config/option.h"
#include "config/training_texts.h"

namespace tandem::rules {

/// Rules on one field, for Option::check: empty, or the text of the violation. Bounds are inclusive unless the name
/// says otherwise. Upper bounds keep products of options, such as memory estimates, far from overflow.
using Breach = std::optional<std::string>;

inline constexpr int64_t mostClasses = 1'000'000;

template <auto member, int64_t low, int64_t high>
Breach within(const Config& config) {
  if (field<member>.read(config) < low) return concat("must be at least ", low);
  if (field<member>.read(config) > high) return concat("must be at most ", high);
  return std::nullopt;
}

template <auto member, int64_t low, int64_t high>
Breach zeroOrWithin(const Config& config) {
  if (field<member>.read(config) == 0) return std::nullopt;
  if (field<member>.read(config) < low) return concat("must be 0 or at least ", low);
  return within<member, low, high>(config);
}

template <auto member>
Breach positive(const Config& config) {
  if (field<member>.read(config) > 0) return std::nullopt;
  return "must be above 0";
}

template <auto member>
Breach atLeastOne(const Config& config) {
  if (field<member>.read(config) >= 1) return std::nullopt;
  return "must be at least 1";
}

/// At least 0 and below 1.
template <auto member>
Breach fraction(const Config& config) {
  const double value = field<member>.read(config);
  if (value >= 0 && value < 1) return std::nullopt;
  return "must be at least 0 and below 1";
}

/// Above 0 and below 1.
template <auto member>
Breach betweenZeroAndOne(const Config& config) {
  const double value = field<member>.read(config);
  if (value > 0 && value < 1) return std::nullopt;
  return "must be above 0 and below 1";
}

/// At least 0 and at most 1.
template <auto member>
Breach upToOne(const Config& config) {
  const double value = field<member>.read(config);
  if (value >= 0 && value <= 1) return std::nullopt;
  return "must be at least 0 and at most 1";
}

/// Above 0 and at most 1.
template <auto member>
Breach share(const Config& config) {
  const double value = field<member>.read(config);
  if (value > 0 && value <= 1) return std::nullopt;
  return "must be above 0 and at most 1";
}

/// A bucket's size in MiB.
Breach bucket(double mebibytes);
template <auto member>
Breach bucket(const Config& config) {
  return bucket(field<member>.read(config));
}
template <auto member>
Breach zeroOrBucket(const Config& config) {
  return field<member>.read(config) == 0 ? std::nullopt : bucket(field<member>.read(config));
}

Breach devices(const Config& config);
Breach parameterDevice(const Config& config);
Breach split(const Config& config);
Breach head(const Config& config);
Breach warmup(const Config& config);
Breach out(const Config& config);
Breach budget(const Config& config);
Breach saveWeights(const Config& config);
Breach trace(const Config& config);
Breach page(const Config& config);
Breach saveScores(const Config& config);
Breach stopAt(const Config& config);
Breach lrSteps(const Config& config);
Breach trainSize(const Config& config);
Breach inject(const Config& config);

}  // namespace tandem::rules
