#pragma once

#include <optional>
#include <string>

#include "base/clock.h"

namespace tandem {

/// A time in a line of /proc/PID/stat, "PID (NAME) STATE ...", where the name may hold anything. `field` counts from
/// the state, which is 0: utime is 11, stime 12, starttime 19 (proc(5)). Resolution is one clock tick (10 ms). Empty if
/// the line has no such number.
std::optional<Nanos> timeInStat(const std::string& line, int field);

}  // namespace tandem
