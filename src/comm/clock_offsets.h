#pragma once

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "base/clock.h"
#include "comm/world.h"

namespace tandem {

/// How far another clock is ahead of this one. The truth is at most `error` away.
struct ClockOffset {
  Nanos ahead{}, error{};

  bool operator==(const ClockOffset&) const = default;
};

/// One exchange between two ranks. Each says the time at which it speaks, and has heard the other by a later one.
struct ClockRound {
  Nanos said{}, heard{};            ///< by this clock
  Nanos otherSaid{}, otherHeard{};  ///< by the other clock
};

/// Nothing is heard before it is said. So the other clock is ahead by `otherHeard - said` at most, and by
/// `otherSaid - heard` at least. The result is the middle of what all rounds leave. REQUIRES: a round.
ClockOffset offsetOf(std::span<const ClockRound> rounds);

/// Of each rank's clock from rank 0's, by some exchanges. Collective. Ranks of the same `machine`, a text without
/// blanks, have one clock: their offsets are equal, rank 0's is zero.
std::vector<ClockOffset> clockOffsets(World& world, const std::string& machine,
                                      const std::function<Nanos()>& clock = now);

}  // namespace tandem
