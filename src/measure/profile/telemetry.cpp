#include "measure/profile/telemetry.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "base/statistics.h"
#include "base/text.h"

namespace tandem {
namespace {

constexpr double equalWithin = 0.01;

struct ClockRate {
  std::string device, unit;
  double median;
};

/// Median of every clock, by quantity. Devices are in the order of the telemetry.
std::map<std::string, std::vector<ClockRate>> clocksIn(const Telemetry& telemetry, const std::string& phase) {
  std::map<std::string, std::vector<ClockRate>> clocks;
  for (const TelemetrySeries& series : telemetry.series) {
    if (!series.quantity.ends_with("clock")) continue;
    const auto middle = median(valuesIn(telemetry, series, phase));
    if (middle && *middle > 0) clocks[series.quantity].push_back({series.device, series.unit, *middle});
  }
  return clocks;
}

std::string text(const std::string& quantity, const std::vector<ClockRate>& clocks) {
  std::vector<std::string> parts;
  const ClockRate& first = clocks.front();
  for (const ClockRate& clock : clocks) {
    auto part = concat(clock.device, ' ', fixed(clock.median, 0), ' ', clock.unit);
    if (&clock != &first)
      part += concat(" (", fixed(100 * clock.median / first.median, 1), " % of ", first.device, ')');
    parts.push_back(part);
  }
  return concat(quantity, " differs: ", join(parts));
}

}  // namespace

std::vector<double> valuesIn(const Telemetry& telemetry, const TelemetrySeries& series, const std::string& phase) {
  std::vector<double> values;
  for (size_t i = 0; i < std::min(telemetry.at.size(), series.values.size()); ++i) {
    const auto next =
        std::ranges::find_if(telemetry.phases, [&](const auto& one) { return one.begin > telemetry.at[i]; });
    if (next == telemetry.phases.begin() || std::prev(next)->name != phase) continue;
    if (!std::isnan(series.values[i])) values.push_back(series.values[i]);
  }
  return values;
}

std::optional<double> otherPrograms(const Telemetry& telemetry, const std::string& phase) {
  double most = 0;
  for (const TelemetrySeries& series : telemetry.series) {
    if (series.quantity != "programs") continue;
    for (const double programs : valuesIn(telemetry, series, phase)) most = std::max(most, programs);
  }
  if (most < 1) return {};
  return most - 1;
}

std::optional<double> slowedShare(const Telemetry& telemetry, const std::string& phase) {
  std::map<std::string, std::vector<double>> slowed;  // by device: 1 at each sample with a reason
  for (const TelemetrySeries& series : telemetry.series) {
    if (!series.quantity.starts_with(slowedBy) || series.quantity.ends_with(powerCap)) continue;
    const auto values = valuesIn(telemetry, series, phase);
    auto& any = slowed[series.device];
    any.resize(std::max(any.size(), values.size()));
    for (size_t i = 0; i < values.size(); ++i) any[i] = std::max(any[i], values[i]);
  }
  std::vector<double> all;
  for (const auto& [device, moments] : slowed) all.insert(all.end(), moments.begin(), moments.end());
  return mean(all);
}

std::vector<std::string> slowdowns(const Telemetry& telemetry, const std::string& phase) {
  std::vector<std::string> lines;
  for (const TelemetrySeries& series : telemetry.series) {
    if (!series.quantity.starts_with(slowedBy)) continue;
    const double share = mean(valuesIn(telemetry, series, phase)).value_or(0);
    if (share == 0) continue;
    lines.push_back(
        concat(series.device, " was ", series.quantity, " in ", fixed(100 * share, 1), " % of the samples"));
  }
  return lines;
}

std::vector<std::string> unequalClocks(const Telemetry& telemetry, const std::string& phase) {
  std::vector<std::string> lines;
  for (const auto& [quantity, clocks] : clocksIn(telemetry, phase)) {
    const auto [low, high] = std::ranges::minmax(clocks, {}, &ClockRate::median);
    if (high.median > (1 + equalWithin) * low.median) lines.push_back(text(quantity, clocks));
  }
  return lines;
}

}  // namespace tandem
