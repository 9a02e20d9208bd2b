#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"

namespace tandem {

/// One quantity of one device over time: a value for each moment of the telemetry, NaN where it could not be read.
struct TelemetrySeries {
  std::string device;    ///< "cpu 3", "host", "cuda:0"
  std::string quantity;  ///< "use", "memory", "power", "temperature", "SM clock", ...
  std::string unit;
  std::vector<double> values;

  bool operator==(const TelemetrySeries&) const = default;
};

/// A part of a run on the time axis; it lasts until the next one.
struct TelemetryPhase {
  std::string name;
  Nanos begin{};  ///< since the start of the telemetry

  bool operator==(const TelemetryPhase&) const = default;
};

/// What the devices did while a run went on.
struct Telemetry {
  std::vector<Nanos> at;  ///< moments, since its start; rising
  std::vector<TelemetrySeries> series;
  std::vector<TelemetryPhase> phases;
  Nanos cpu{};  ///< CPU time that sampling itself took

  bool operator==(const Telemetry&) const = default;
};

/// Values of a series within the phase of that name; NaN left out.
std::vector<double> valuesIn(const Telemetry& telemetry, const TelemetrySeries& series, const std::string& phase);

/// The most programs at once on any GPU in `phase`, without the run itself. Empty where the driver lists not even that,
/// as in some containers: it lists no others either.
std::optional<double> otherPrograms(const Telemetry& telemetry, const std::string& phase);

/// Quantities that are 1 while a GPU's clocks are lowered are named `slowedBy` and the reason: a power cap that was
/// set, `powerCap`, or what nobody asked for, heat or the supply.
inline constexpr std::string_view slowedBy = "slowed by ", powerCap = "power cap";

/// Share of all GPUs' moments in `phase` with any reason but the power cap. Empty when none says.
std::optional<double> slowedShare(const Telemetry& telemetry, const std::string& phase);

/// "cuda:0 was slowed by power cap in 40.0 % of the samples" for each device and reason of `phase`.
std::vector<std::string> slowdowns(const Telemetry& telemetry, const std::string& phase);

/// "SM clock differs: cuda:0 1771 MHz, cuda:1 1683 MHz (95.0 % of cuda:0)" for each clock whose median in `phase`
/// differs by more than 1 % among devices; the first device of a quantity is the one the others are compared with.
std::vector<std::string> unequalClocks(const Telemetry& telemetry, const std::string& phase);

}  // namespace tandem
