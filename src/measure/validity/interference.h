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

/// What the system and this process had counted at one instant. Empty: this system does not say.
struct SystemCounters {
  Nanos steady{};                      ///< the measuring clock; stands still while the machine sleeps
  std::optional<Nanos> sinceBoot;      ///< goes on while the machine sleeps
  std::optional<Nanos> wallClock;      ///< the one that people and NTP set
  std::optional<Nanos> busy, stolen;   ///< of the run's CPUs, summed; stolen: the hypervisor gave them to others
  std::optional<Nanos> own;            ///< CPU time of this process
  std::optional<Nanos> queued;         ///< time that threads of this process waited for a CPU, summed
  std::optional<Nanos> throttled;      ///< time that the control group was held at its CPU limit
  std::optional<Nanos> pressure;       ///< time in which anything on this machine waited for a CPU
  std::optional<int64_t> involuntary;  ///< context switches of this process that it did not ask for
  std::optional<double> joules;        ///< energy of all metered devices
};

/// A measured window as its counters saw it.
struct WindowCounters {
  SystemCounters begin, end;
  int64_t cpus = 0;                   ///< how many `busy` and `stolen` sum over
  std::optional<Nanos> longestStall;  ///< the longest time in which a thread that only sleeps and wakes did not wake
  std::optional<double> gpuSlowed;    ///< share of samples in which a GPU was slowed by heat or its supply
  std::optional<double> gpuOthers;    ///< share of the time that others used a GPU before the run, the most used one
  std::optional<double> gpuPrograms;  ///< others that had a GPU of the run in the window, at most
};

/// A row of the table of interferences: a sign that something else took part in the measurement. Formulas are in
/// docs/METRICS.md.
struct InterferenceSign {
  std::string_view name, unit, help;
  double limit;           ///< above it a record is not valid; infinite: shown, never judged
  std::string_view says;  ///< what happened, before the value: "other programs used"
  std::optional<double> (*of)(const WindowCounters&);  ///< empty: unknown, which is never "none"
};

std::span<const InterferenceSign> interferenceSigns();

/// The signs of one window, and those above their limits in words.
struct Interference {
  std::map<std::string, double> signs;  ///< by name; NaN: unknown
  std::vector<std::string> reasons;     ///< why the record is not valid; empty: nothing known speaks against it

  bool operator==(const Interference&) const = default;
};

Interference judge(const WindowCounters& window);

}  // namespace tandem
