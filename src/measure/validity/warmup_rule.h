#pragma once

#include <cstdint>
#include <span>

namespace tandem {

/// The warm-up rule of --warmup=auto, stated in docs/METRICS.md: steady when the medians of the last two windows of
/// `window` steps differ by at most `tolerance` of the older one, and neither is slower than the fastest such window
/// so far by more than twice that.
struct WarmupRule {
  int64_t window = 3;
  double tolerance = 0.05;
};

/// True when the newest of `stepSeconds` (all steps so far, in order) is steady by the rule.
bool isSteady(std::span<const double> stepSeconds, const WarmupRule& rule);

}  // namespace tandem
