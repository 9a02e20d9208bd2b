#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

namespace tandem {

/// How replicas share a global batch: a value of --split.
struct Split {
  bool measured = false;          ///< by their rates, which are measured before the run
  std::vector<double> weights{};  ///< shares have this ratio, one number a replica; empty: they are equal

  bool operator==(const Split&) const = default;
};

/// "equal", "measured", "3:1". Empty if the text is none of these.
std::optional<Split> parseSplit(std::string_view text);

/// Whole numbers of the given sum, in the ratio of `weights` as nearly as they can be, and at least 1: the method of
/// largest remainders. Among equal remainders the first gets more. REQUIRES: weights above 0, not more of them than
/// `sum`.
std::vector<int64_t> apportioned(int64_t sum, std::span<const double> weights);

}  // namespace tandem
