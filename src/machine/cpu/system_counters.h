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

/// Times of each of `cpus` (operating-system indices) in the text of /proc/stat. Empty if a CPU is missing in it.
std::optional<std::vector<CpuTimes>> cpuTimes(std::string_view procStat, std::span<const int> cpus);

/// Reads the counters, with `busy` and `stolen` over `cpus`. `joules` stays empty, because the telemetry's meters count
/// it.
SystemCounters readCounters(std::span<const int> cpus);

}  // namespace tandem
