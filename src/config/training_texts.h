#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tandem {

/// A metric and a value of it, of --stop-at.
struct Target {
  std::string metric;
  double value = 0;

  bool operator==(const Target&) const = default;
};

/// "accuracy:0.935". Empty if the text is none; whether there is such a metric is not checked.
std::optional<Target> parseTarget(std::string_view text);

/// "30+60+80" of --lr-steps: numbers above 0 that grow. Empty if the text is none.
std::optional<std::vector<double>> parseLrSteps(std::string_view text);

}  // namespace tandem
