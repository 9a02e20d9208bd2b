#include "config/split.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/number.h"
#include "base/text.h"

namespace tandem {

std::optional<Split> parseSplit(std::string_view text) {
  if (text == "equal") return Split{};
  if (text == "measured") return Split{.measured = true};
  Split split;
  for (const std::string& part : tandem::split(text, ":")) {
    const auto weight = numberIn<double>(part);
    if (!weight || !std::isfinite(*weight) || *weight <= 0) return std::nullopt;
    split.weights.push_back(*weight);
  }
  return split;
}

// Each has 1 for certain. What its quota is above that is rounded down, and what is left goes to the largest
// remainders.
std::vector<int64_t> apportioned(int64_t sum, std::span<const double> weights) {
  const double all = std::accumulate(weights.begin(), weights.end(), 0.0);
  std::vector<int64_t> shares;
  std::vector<double> remainders;
  for (const double weight : weights) {
    const double quota = static_cast<double>(sum) * (weight / all);
    shares.push_back(std::max<int64_t>(1, static_cast<int64_t>(quota)));
    remainders.push_back(quota - static_cast<double>(shares.back()));
  }
  for (int64_t left = sum - std::accumulate(shares.begin(), shares.end(), int64_t{0}); left != 0;) {
    const int64_t step = left > 0 ? 1 : -1;
    size_t next = shares.size();
    for (size_t i = 0; i < shares.size(); ++i) {
      if (step < 0 && shares[i] == 1) continue;
      if (next == shares.size() || static_cast<double>(step) * (remainders[i] - remainders[next]) > 0) next = i;
    }
    shares[next] += step;
    remainders[next] -= static_cast<double>(step);
    left -= step;
  }
  return shares;
}

}  // namespace tandem
