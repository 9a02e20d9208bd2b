#pragma once

#include <string>
#include <vector>

#include "config/parsed_option.h"

namespace tandem {

/// The values in a typed text. `a,b,c` is split at commas; for an option with a catalog also at '/', except in paths.
/// The ranges `first-last*factor` and `first-last+step` of numbers are expanded; `last` is included if a step reaches
/// it.
/// `option` is null for a name that changes nothing. Throws UsageError for an empty element, and for a list if the
/// option takes one value. Throws UsageError for a range that never reaches its end or has more than 1000 values.
std::vector<std::string> listedValues(const TypedOption& typed, const Option* option);

}  // namespace tandem
