#pragma once

#include <span>
#include <string>
#include <string_view>

namespace tandem {

using Arguments = std::span<const std::string>;

/// A command of the program. `run` gets the arguments after its name and returns the exit code; errors are thrown.
struct ProgramCommand {
  std::string_view name, summary;
  int (*run)(Arguments);
  bool shown;  ///< in `tandem --help`
};

std::span<const ProgramCommand> programCommands();

/// Runs the command that the arguments name. Arguments that start with an option mean `bench`, so that command lines
/// of other benchmark programs work after the program's name. Throws UsageError for an unknown command, StorageError
/// when standard output could not be written.
int runProgram(Arguments arguments);

}  // namespace tandem
