#pragma once

#include <span>
#include <string_view>

namespace tandem {

/// A command that takes options of the table, as --help shows it.
struct CommandEntry {
  std::string_view name;
  unsigned bit;  ///< of Commands
  std::string_view summary;
  std::span<const std::string_view> examples;
  std::string_view operands;  ///< what stands for arguments that are no options; empty: it takes none
  bool sweeps;                ///< takes lists
};

std::span<const CommandEntry> commandsWithOptions();

/// Throws InternalError: which commands there are is decided before options are read.
const CommandEntry& commandCalled(std::string_view name);

}  // namespace tandem
