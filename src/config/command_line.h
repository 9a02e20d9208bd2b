#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "config/option.h"

namespace tandem {

/// One axis of a sweep: the values given to one option, in the order typed.
struct Axis {
  const Option* option;
  std::vector<std::string> values;
};

/// What was typed, before expansion: the options given once, and the axes.
struct Sweep {
  Config base;
  std::vector<Axis> axes;                  ///< every option that was given more than one value
  bool (*keeps)(const Config&) = nullptr;  ///< which points of the axes are meant; null: all
  std::vector<std::string> given;          ///< names of all options that were typed
  std::vector<std::string> notes;          ///< what aliases had to say
  std::vector<std::string> operands;       ///< arguments that are no options, of commands that take such
};

/// Parses the arguments after the command's name. Every option of the table is accepted, with hyphens or underscores,
/// `--name value` or `--name=value`; flags without value. `a,b,c` and `first-last*mult` (`1-8*2` is 1,2,4,8;
/// `first-last+step` too) make an axis. Throws UsageError.
Sweep parseArguments(std::string_view command, std::span<const std::string> arguments, const CatalogNames&);

/// All points that are meant of the cross product of the axes, the first axis varying slowest. Each is checked alone
/// (checkCombination is not called: a bad combination is a row that says why).
std::vector<Config> expand(const Sweep&, const CatalogNames&);

/// The shortest command that repeats a configuration: the options that differ from the default.
std::string commandLine(std::string_view command, const Config&);

/// Text of `tandem COMMAND --help`, from the table.
std::string helpText(std::string_view command, const CatalogNames&);

/// docs/OPTIONS.md, from the table.
std::string optionsMarkdown(const CatalogNames&);

}  // namespace tandem
