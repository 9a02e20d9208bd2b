#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"

namespace tandem {

/// One quantity of one device over time. It has one value per sample of the telemetry, NaN if that could not be read.
struct TelemetrySeries {
  std::string device;    ///< "cpu 3", "host", "cuda:0"
  std::string quantity;  ///< "use", "memory", "power", "temperature", "SM clock", ...
  std::string unit;
  std::vector<double> values;

  bool operator==(const TelemetrySeries&) const = default;
};

/// A part of a run on the time axis. It lasts until the next phase.
struct TelemetryPhase {
  std::string name;
  Nanos begin{};  ///< since the start of the telemetry

  bool operator==(const TelemetryPhase&) const = default;
};

/// Samples of the devices during a run.
struct Telemetry {
  std::vector<Nanos> at;  ///< times of the samples since its start; rising
  std::vector<TelemetrySeries> series;
  std::vector<TelemetryPhase> phases;
  Nanos cpu{};  ///< CPU time of the sampling itself

  bool operator==(const Telemetry&) const = default;
};

/// Values of a series within the phases of that name, without NaN.
std::vector<double> valuesIn(const Telemetry& telemetry, const TelemetrySeries& series, const std::string& phase);

/// The largest number of other programs at once on any GPU in `phase`. Empty if the driver does not list even the run
/// itself, as in some containers: then it lists no others either.
std::optional<double> otherPrograms(const Telemetry& telemetry, const std::string& phase);

/// A quantity that is 1 while a GPU's clocks are lowered has the name `slowedBy` plus the reason. The reason is
/// `powerCap`, a limit that somebody set, or an unwanted one such as heat or the power supply.
inline constexpr std::string_view slowedBy = "slowed by ", powerCap = "power cap";

/// Share of all GPUs' samples in `phase` with any reason but the power cap. Empty if no GPU reports reasons.
std::optional<double> slowedShare(const Telemetry& telemetry, const std::string& phase);

/// Returns "cuda:0 was slowed by power cap in 40.0 % of the samples" for each device and reason in `phase`.
std::vector<std::string> slowdowns(const Telemetry& telemetry, const std::string& phase);

/// Compares each clock among devices: "SM clock differs: cuda:0 1771 MHz, cuda:1 1683 MHz (95.0 % of cuda:0)". Returns
/// a text for each clock whose median in `phase` differs by more than 1 %. The first device of a quantity is the
/// reference.
std::vector<std::string> unequalClocks(const Telemetry& telemetry, const std::string& phase);

}  // namespace tandem
