#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "config/config.h"

namespace tandem {

/// A metric and a value of it, of --stop-at.
struct Target {
  std::string metric;
  double value = 0;

  bool operator==(const Target&) const = default;
};

/// "accuracy:0.935". Empty if the text is none; whether there is such a metric is not checked.
std::optional<Target> parseTarget(std::string_view text);

/// Pixels of an image's height and width.
inline constexpr int64_t leastImageSize = 8, mostImageSize = 16384;

/// The size of training images from an epoch on.
struct SizeFrom {
  double epochs = 0;  ///< passes over the images before
  int64_t pixels = 0;

  bool operator==(const SizeFrom&) const = default;
};

/// "128+160@6" of --train-size: sizes, each after the first behind the epochs before it, which grow from 0. Empty if
/// the text is none.
std::optional<std::vector<SizeFrom>> parseTrainSize(std::string_view text);

/// Those of a training; empty without the option.
std::vector<SizeFrom> trainSizesOf(const Config::Training& training);

/// "30+60+80" of --lr-steps: numbers above 0 that grow. Empty if the text is none.
std::optional<std::vector<double>> parseLrSteps(std::string_view text);

}  // namespace tandem
