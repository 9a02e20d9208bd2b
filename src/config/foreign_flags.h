#pragma once

#include <span>
#include <string_view>

#include "config/option.h"

namespace tandem {

/// Why values that mean servers and workers in processes of their own are refused.
inline constexpr std::string_view processes =
    "is not built yet: a parameter server is within one process; use --strategy=replicated, with --ranks or a launcher";

/// Flags of tf_cnn_benchmarks, of its versions since 2017, and of tensorpack's ResNet scripts that no option stands
/// for, and --epochs, which most training scripts have. A row refuses its value and says what to use, or passes it over
/// and says why. Of a refused flag the value 0 asks for nothing. So does a value of a true-or-false flag that has no
/// row.
std::span<const Alias> foreignFlags();

}  // namespace tandem
