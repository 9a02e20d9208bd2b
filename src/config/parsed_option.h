#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "config/option.h"

namespace tandem {

/// One option as typed, its name with hyphens and without dashes; a bare flag has the value "true".
struct TypedOption {
  std::string name, value;
};

/// What a typed option stands for once aliases are applied.
struct ResolvedOption {
  const Option* option = nullptr;   ///< never null in a result
  std::vector<std::string> values;  ///< in the order typed, ranges written out; not yet checked
  std::vector<std::string> notes;
};

/// True when `name` (an option or an alias) may be typed without a value.
bool isFlag(std::string_view name);

/// Every name that a command takes: options, then aliases.
std::vector<std::string> typableNames(unsigned command);

/// Applies aliases and writes lists and ranges out. A value that an alias refuses is accepted where the catalog of this
/// build has it. REQUIRES: typed.name is one of typableNames(). Throws UsageError.
ResolvedOption resolve(const TypedOption& typed, const CatalogNames& names);

}  // namespace tandem
