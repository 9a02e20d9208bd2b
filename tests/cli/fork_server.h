#pragma once

#include <string>
#include <vector>

namespace tandem {

/// What a process is started with.
struct StartedAs {
  std::string folder, out, err;        ///< working folder, files of its standard output and error
  std::vector<std::string> arguments;  ///< the program's name first
};

/// Goes to the folder and takes the files as its output. Ends the process with code 99 where that fails.
void takePlace(const StartedAs& process);

/// The arguments as main() and execv() take them. Valid as long as the process's.
std::vector<char*> argvOf(StartedAs& process);

/// Runs the program's commands in a fork of the tests' program, as it was before its first test. Waits for the end, and
/// returns the status as waitpid() does.
int runInFork(const StartedAs& process);

}  // namespace tandem
