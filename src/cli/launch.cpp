#include <algorithm>
#include <iostream>
#include <optional>

#include "base/error.h"
#include "base/number.h"
#include "base/text.h"
#include "cli/commands.h"
#include "machine/process/child_process.h"
#include "run/child/launch_ranks.h"

namespace tandem {
namespace {

constexpr std::string_view usage =
    "Usage: tandem launch -n N -- COMMAND [ARGUMENT ...]\n\n"
    "Starts N processes of this program with the arguments after --, the ranks of one run on this host, and serves\n"
    "the store where they meet. When one fails all end, with its exit code (6 if it was killed). Output of rank 0 is\n"
    "passed on; lines of other ranks stand on standard error behind their rank. Without this command: torchrun,\n"
    "mpirun or srun start ranks, on several hosts too.\n\n"
    "  -n N, --ranks=N  how many processes\n\n"
    "  tandem launch -n 4 -- bench --model=resnet20\n";
constexpr std::string_view example = "tandem launch -n 4 -- bench --model=resnet20";
constexpr std::string_view shortOption = "-n", longOption = "--ranks", commandFollows = "--";

int ranksFrom(std::string_view text) {
  if (const auto ranks = numberWithin(text, 1, mostLaunchedRanks)) return static_cast<int>(*ranks);
  throw UsageError(concat("tandem launch: -n ", text, ": must be a whole number from 1 to ", mostLaunchedRanks,
                          "; for example: ", example));
}

/// The value in "-n4" and "--ranks=4"; an empty one if the next argument is the value. None: it is another argument.
std::optional<std::string_view> valueIn(std::string_view argument) {
  if (argument == shortOption || argument == longOption) return "";
  if (argument.starts_with(longOption) && argument.substr(longOption.size()).starts_with('='))
    return argument.substr(longOption.size() + 1);
  if (argument.starts_with(shortOption)) return argument.substr(shortOption.size());
  return std::nullopt;
}

int ranksIn(Arguments options) {
  std::optional<int> ranks;
  for (size_t i = 0; i < options.size(); ++i) {
    auto value = valueIn(options[i]);
    if (!value) {
      throw UsageError(concat("tandem launch: unexpected argument '", options[i],
                              "'; it takes -n N, and the command to launch stands behind --, for example: ", example));
    }
    if (value->empty()) value = ++i < options.size() ? std::string_view(options[i]) : "";
    ranks = ranksFrom(*value);
  }
  if (!ranks) throw UsageError(concat("tandem launch: it needs the number of ranks, -n N, for example: ", example));
  return *ranks;
}

void requireLaunchable(Arguments arguments) {
  if (arguments.empty()) {
    throw UsageError(concat("tandem launch: no command to launch; it stands behind --, for example: ", example));
  }
  const ProgramCommand& command = commandFor(arguments);
  if (command.launched) return;
  std::vector<std::string> valid;
  for (const ProgramCommand& each : programCommands()) {
    if (each.launched) valid.emplace_back(each.name);
  }
  throw UsageError(
      concat("tandem launch: '", command.name, "' does not run as several ranks; those that do: ", join(valid)));
}

}  // namespace

int launchCommand(Arguments arguments) {
  const auto end = std::ranges::find(arguments, commandFollows);
  const Arguments options(arguments.begin(), end);
  if (asksForHelp(options)) {
    std::cout << usage;
    return 0;
  }
  const int ranks = ranksIn(options);
  const Arguments command = end == arguments.end() ? Arguments() : Arguments(end + 1, arguments.end());
  requireLaunchable(command);
  launchRanks({.executable = ownExecutable, .arguments = {command.begin(), command.end()}, .ranks = ranks});
  return 0;
}

}  // namespace tandem
