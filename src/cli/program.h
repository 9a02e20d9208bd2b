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
  bool shown;             ///< whether `tandem --help` lists it
  bool launched = false;  ///< whether `tandem launch` starts it
};

std::span<const ProgramCommand> programCommands();

/// The command that the arguments name. Throws UsageError for an unknown one.
const ProgramCommand& commandFor(Arguments arguments);

/// Runs the command that the arguments name and returns its exit code. Without a command, options mean `bench`, so that
/// the options of other benchmark programs can be typed as they are. Throws what the command throws, UsageError for an
/// unknown command, and StorageError if standard output cannot be written.
int runProgram(Arguments arguments);

/// The whole program: prepares the process, runs runProgram(), says an error in one line, and ends the process without
/// the destructors of static objects. Those of libtorch take 60 ms, and a sweep starts hundreds of processes. Under a
/// sanitizer it returns the exit code, because leaks are reported when main() returns.
int programMain(int argc, char** argv);

}  // namespace tandem
