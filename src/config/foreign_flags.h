#pragma once

#include <span>
#include <string_view>

#include "config/option.h"

namespace tandem {

/// Why words that mean an evaluation are refused.
inline constexpr std::string_view noEval =
    "is not an option of bench: 'tandem train' evaluates (--validate-on, --validate-every, --eval-batch, --stop-at), "
    "and "
    "'tandem eval --weights=FILE --data=FOLDER'";

/// Flags of tf_cnn_benchmarks, of its versions since 2017, and of tensorpack's ResNet scripts that no option stands
/// for, and a few that most training scripts have, such as --epochs. A row refuses its value and says what to use, or
/// passes it over and says why. Of a refused flag the value 0 asks for nothing. So does a value of a true-or-false flag
/// that has no row.
std::span<const Alias> foreignFlags();

}  // namespace tandem
