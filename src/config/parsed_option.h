#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "config/option.h"

namespace tandem {

/// One option as typed. Its name has hyphens and no dashes in front. A bare flag has the value "true".
struct TypedOption {
  std::string name, value;
};

/// A typed option after aliases are applied.
struct ResolvedOption {
  const Option* option = nullptr;   ///< null: what was typed asks for nothing here
  std::vector<std::string> values;  ///< in the order typed, with ranges expanded; not checked yet
  std::vector<std::string> notes;
};

/// True if `name`, an option or an alias, may be typed without a value.
bool isFlag(std::string_view name);

/// Whether a name is that of an option or of an alias for one, and not of a flag that is only refused or passed over.
bool leadsToOption(std::string_view name);

/// Every name that a command accepts: options, then aliases.
std::vector<std::string> typableNames(unsigned command);

/// Applies aliases and expands lists and ranges. `line` is all that was typed: some aliases count only beside another
/// option. A value that an alias refuses is accepted if a catalog of this build has it. REQUIRES: typed.name is one of
/// typableNames(). Throws UsageError.
ResolvedOption resolve(const TypedOption& typed, const CatalogNames& names, std::span<const TypedOption> line);

}  // namespace tandem
