#pragma once

#include <optional>
#include <span>
#include <string>

#include "comm/rank_environment.h"
#include "config/command_line.h"

namespace tandem {

/// This process among those that a launcher, or somebody with --job, started, all of which are those of each point.
/// Sets the numbers of processes in the sweep. Empty where none did. Throws UsageError where options and launcher
/// contradict each other, and as rankPlaceFromEnvironment() and rankPlaceFromRoles().
std::optional<LaunchedRank> takeLaunchedRanks(Sweep& sweep);

/// What all processes of a run must have been given alike: the arguments without those that say which one this is.
std::string sharedArguments(std::span<const std::string> arguments);

}  // namespace tandem
