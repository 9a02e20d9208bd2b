#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "measure/validity/interference.h"

namespace tandem {

/// Busy and stolen time since boot.
struct CpuTimes {
  Nanos busy{}, stolen{};
};

/// Times of each of `cpus` (operating-system indices) from the text of /proc/stat; empty when a CPU is not in it.
std::optional<std::vector<CpuTimes>> cpuTimes(std::string_view procStat, std::span<const int> cpus);

/// The counters now, `busy` and `stolen` of `cpus`; without `joules`, which the meters of telemetry count.
SystemCounters readCounters(std::span<const int> cpus);

}  // namespace tandem
