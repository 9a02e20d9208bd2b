#pragma once

#include <cstdint>
#include <span>

namespace tandem {

/// The warm-up rule of --warmup=auto (docs/METRICS.md). It compares the medians of windows of `window` steps. A run is
/// steady if two conditions hold. The last two medians differ by at most `tolerance` of the older one. Neither exceeds
/// the fastest such median so far by more than twice `tolerance`.
struct WarmupRule {
  int64_t window = 3;
  double tolerance = 0.05;
};

/// True if the newest of `stepSeconds`, all steps so far in order, is steady by the rule.
bool isSteady(std::span<const double> stepSeconds, const WarmupRule& rule);

}  // namespace tandem
