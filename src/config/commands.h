#pragma once

#include <span>
#include <string_view>

namespace tandem {

/// A command with options of the table, as --help shows it.
struct CommandEntry {
  std::string_view name;
  unsigned bit;  ///< its bit in Commands
  std::string_view summary;
  std::span<const std::string_view> examples;
  std::string_view operands;  ///< placeholder in --help for arguments that are not options; empty: there are none
  bool sweeps;                ///< whether options take lists
};

std::span<const CommandEntry> commandsWithOptions();

/// Throws InternalError for an unknown name, because cli checks names before it reads options.
const CommandEntry& commandCalled(std::string_view name);

}  // namespace tandem
