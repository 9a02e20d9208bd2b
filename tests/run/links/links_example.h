#pragma once

#include <string>
#include <utility>
#include <vector>

#include "run/links/link_series.h"

namespace tandem {

/// A series with one time per size: pairs of bytes and seconds.
inline LinkSeries seriesWith(const std::vector<std::pair<int64_t, double>>& points, const std::string& way = "ring",
                             const std::string& kind = "replicas") {
  LinkSeries series{.kind = kind, .link = "2 replicas", .path = "L3", .way = way};
  for (const auto& [bytes, seconds] : points) series.times.push_back({.bytes = bytes, .seconds = {seconds}});
  return series;
}

}  // namespace tandem
