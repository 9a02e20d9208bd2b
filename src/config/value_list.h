#pragma once

#include <string>
#include <vector>

#include "config/parsed_option.h"

namespace tandem {

/// The values in a typed text: `a,b,c` at commas (for an option with a catalog, except in paths, at '/' too), and for
/// numbers `first-last*factor` and `first-last+step` written out, `last` included when it is hit.
///
/// `option` null: of a name that changes nothing. Throws UsageError for an empty element, a range that never reaches
/// its end or has more than 1000 values, and a list where the option takes one value.
std::vector<std::string> listedValues(const TypedOption& typed, const Option* option);

}  // namespace tandem
