#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/clock.h"

namespace tandem {

/// CPU time that a process has used. Resolution is one clock tick (10 ms).
struct ProcessTime {
  int id = 0;
  std::string name;  ///< of its program, at most 15 bytes
  Nanos used{};
};

/// Of all processes that this one can see, from /proc. Empty where that cannot be read.
std::vector<ProcessTime> processTimes();

/// The process that used most CPU time from `before` to `after`, with that time. One that began in between counts. The
/// processes `apart` do not. Empty if no process used any.
std::optional<ProcessTime> busiest(std::span<const ProcessTime> before, std::span<const ProcessTime> after,
                                   std::span<const int> apart);

/// The CPU time that these processes used in between together. One that has ended meanwhile does not count.
Nanos usedBy(std::span<const int> processes, std::span<const ProcessTime> before, std::span<const ProcessTime> after);

}  // namespace tandem
