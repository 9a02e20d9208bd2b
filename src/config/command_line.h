#pragma once

#include <algorithm>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "config/option.h"

namespace tandem {

/// One axis of a sweep: the values of one option, in the order typed.
struct Axis {
  const Option* option;
  std::vector<std::string> values;
};

/// A parsed command line before expansion: options with one value, and the axes.
struct Sweep {
  Config base;
  std::vector<Axis> axes;                  ///< every option that was given more than one value
  bool (*keeps)(const Config&) = nullptr;  ///< selects points of the cross product; null: all
  std::vector<std::string> given;          ///< names of all options that were typed
  std::vector<std::string> notes;          ///< notes of the aliases that were used
  std::vector<std::string> operands;       ///< arguments that are not options

  /// Whether this option was typed.
  bool has(std::string_view option) const { return std::ranges::find(given, option) != given.end(); }
};

/// Parses the arguments after the command's name. Accepts every option of the table, with hyphens or underscores, as
/// `--name value` or `--name=value`; flags have no value. An axis is `a,b,c`, `first-last*factor` (`1-8*2` is 1,2,4,8)
/// or `first-last+step`. Throws UsageError.
Sweep parseArguments(std::string_view command, std::span<const std::string> arguments, const CatalogNames&);

/// The selected points of the cross product of the axes; the first axis varies slowest. Each option is checked on its
/// own. checkCombination is not called, because a bad combination becomes a row with the reason.
std::vector<Config> expand(const Sweep&, const CatalogNames&);

/// The shortest command that repeats configurations. It names the options that differ from the default; an option in
/// which the configurations differ has all their values, so the command may run others too. One that takes a single
/// value, as an output does, is left out then.
std::string commandLine(std::string_view command, std::span<const Config* const> configs);
std::string commandLine(std::string_view command, const Config&);

/// Text of `tandem COMMAND --help`, made from the table.
std::string helpText(std::string_view command, const CatalogNames&);

/// Text of docs/OPTIONS.md, made from the table.
std::string optionsMarkdown(const CatalogNames&);

}  // namespace tandem
