#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "cli/program.h"

namespace tandem {

/// An option of a command that has a table of its own, beside that of bench (config/option.h).
struct CommandOption {
  std::string_view name, placeholder, help, standard;  ///< name as it is typed: "--sizes"
};

/// An option as it was typed, with dashes in its name.
struct TypedOption {
  std::string name, value;
};

struct TypedArguments {
  std::vector<std::string> operands;
  std::vector<TypedOption> options;
};

/// Options are "--name=value" or "--name value", everything else is an operand. Throws UsageError for an option without
/// a value.
TypedArguments typedArguments(Arguments arguments);

/// Throws UsageError for a name that is none of the valid ones, and for one that stands twice. `kind`: for messages,
/// "option of links".
void checkNames(std::span<const TypedOption> typed, std::span<const std::string> valid, std::string_view kind);

/// The line of an option for --help; what it does begins behind `leftWidth` characters, if there is room.
std::string helpLine(const CommandOption& option, size_t leftWidth);

}  // namespace tandem
