#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"

namespace tandem {

/// Counters of the system and this process at one instant. Empty: this system does not report the counter.
struct SystemCounters {
  Nanos steady{};                      ///< the measuring clock; stands still while the machine sleeps
  std::optional<Nanos> sinceBoot;      ///< goes on while the machine sleeps
  std::optional<Nanos> wallClock;      ///< the one that people and NTP set
  std::optional<Nanos> busy, stolen;   ///< sum over the run's CPUs; stolen: the hypervisor gave that time to others
  std::optional<Nanos> own;            ///< CPU time of this process
  std::optional<Nanos> queued;         ///< time that threads of this process waited for a CPU, summed
  std::optional<Nanos> throttled;      ///< time that the control group was held at its CPU limit
  std::optional<Nanos> pressure;       ///< time in which anything on this machine waited for a CPU
  std::optional<int64_t> involuntary;  ///< involuntary context switches of this process
  std::optional<double> joules;        ///< energy of all metered devices
};

/// The counters over one measured window.
struct WindowCounters {
  SystemCounters begin, end;
  int64_t cpus = 0;                 ///< number of CPUs that `busy` and `stolen` sum over
  std::optional<Nanos> stopped;     ///< the delays of a thread that only sleeps and wakes, summed
  std::optional<double> gpuSlowed;  ///< share of samples in which heat or the power supply slowed a GPU
  /// Share of the time in which others used a GPU before the run; the most used GPU counts.
  std::optional<double> gpuOthers;
  std::optional<double> gpuPrograms;  ///< the most other programs on a GPU of the run in the window
  /// The other process with most CPU time on this machine, "cc1plus (pid 123, 0.92 CPUs)"; empty: not known.
  std::string busiest = {};
};

/// The system counts CPU time in ticks of 10 ms. So shares of a shorter window are mostly rounding, and not known.
constexpr Nanos shortestShare = std::chrono::seconds(1);

/// A row of the table of interferences: a sign that something else disturbed the measurement. docs/METRICS.md states
/// the formulas.
struct InterferenceSign {
  std::string_view name, unit, help;
  double limit;           ///< a record above it is not valid; infinite: the sign is shown, never judged
  double least;           ///< the limit where the run's own interval is narrow (limitOf()); else equal to `limit`
  std::string_view says;  ///< text before the value: "other programs used"
  std::optional<double> (*of)(const WindowCounters&);  ///< empty: unknown, which does not mean zero
  bool inTicks = false;                                ///< the system counts it in ticks of 10 ms
  bool byProcesses = false;                            ///< programs cause it: WindowCounters::busiest may be one
};

std::span<const InterferenceSign> interferenceSigns();

/// The signs of one window, and a sentence for each sign above its limit.
struct Interference {
  std::map<std::string, double> signs;  ///< by name; NaN: unknown
  std::vector<std::string> reasons;     ///< why the record is not valid; empty: no sign is above its limit

  bool operator==(const Interference&) const = default;
};

/// The limit of a sign for a run whose rate has an interval of +- `spreadPercent`: what can move the rate by more than
/// that makes it not valid. It lies between `least` and `limit`. Where the system counts in ticks, two of them relative
/// to the window come on top. Without an interval it is `limit`.
double limitOf(const InterferenceSign& sign, Nanos window, std::optional<double> spreadPercent);

/// Whether nothing tells what other programs did in a window of this length: it is too short for shares, and something
/// on this machine waited for a CPU in it (or that is unknown too).
bool isUnchecked(const Interference& found, Nanos window);

/// `spreadPercent`: as for limitOf().
Interference findInterference(const WindowCounters& window, std::optional<double> spreadPercent = {});

}  // namespace tandem
