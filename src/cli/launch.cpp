#include <algorithm>
#include <filesystem>
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
    "  -n N, --ranks=N   how many processes\n"
    "  --max-restarts=N  how often all are started again after one was lost: killed, crashed or stopped; default 0\n\n"
    "  tandem launch -n 4 -- bench --model=resnet20\n";
constexpr std::string_view example = "tandem launch -n 4 -- bench --model=resnet20";
constexpr std::string_view commandFollows = "--";
constexpr int mostRestarts = 1000;

/// An option of this command. Its value follows it, or stands behind it.
struct LaunchOption {
  std::string_view name, shortName;  // as typed
  int64_t least, most;
  int RankLaunch::*field;
};
constexpr LaunchOption launchOptions[] = {{"--ranks", "-n", 1, mostLaunchedRanks, &RankLaunch::ranks},
                                          {"--max-restarts", "", 0, mostRestarts, &RankLaunch::maxRestarts}};

/// The value in "-n4" and "--ranks=4"; an empty one if the next argument is the value. None: it is another argument.
std::optional<std::string_view> valueIn(std::string_view argument, const LaunchOption& option) {
  if (argument == option.name) return "";
  if (argument.starts_with(option.name) && argument.substr(option.name.size()).starts_with('='))
    return argument.substr(option.name.size() + 1);
  if (option.shortName.empty() || !argument.starts_with(option.shortName)) return std::nullopt;
  return argument.substr(option.shortName.size());
}

int numberFrom(std::string_view text, const LaunchOption& option) {
  if (const auto number = numberWithin(text, option.least, option.most)) return static_cast<int>(*number);
  const std::string_view shown = option.shortName.empty() ? option.name : option.shortName;
  throw UsageError(concat("tandem launch: ", shown, ' ', text, ": must be a whole number from ", option.least, " to ",
                          option.most, "; for example: ", example));
}

/// Takes the option at `i`, and moves `i` to its last argument. False if it is none.
bool take(Arguments options, size_t& i, RankLaunch& launch) {
  for (const LaunchOption& option : launchOptions) {
    auto value = valueIn(options[i], option);
    if (!value) continue;
    if (value->empty()) value = ++i < options.size() ? std::string_view(options[i]) : "";
    launch.*option.field = numberFrom(*value, option);
    return true;
  }
  return false;
}

RankLaunch launchFrom(Arguments options) {
  RankLaunch launch{.executable = ownExecutable, .arguments = {}, .ranks = 0};
  for (size_t i = 0; i < options.size(); ++i) {
    if (take(options, i, launch)) continue;
    throw UsageError(concat("tandem launch: unexpected argument '", options[i],
                            "'; it takes -n N, and the command to launch stands behind --, for example: ", example));
  }
  if (launch.ranks > 0) return launch;
  throw UsageError(concat("tandem launch: it needs the number of ranks, -n N, for example: ", example));
}

void requireLaunchable(Arguments arguments) {
  if (arguments.empty()) {
    throw UsageError(concat("tandem launch: no command to launch; it stands behind --, for example: ", example));
  }
  if (std::filesystem::path(arguments.front()).filename() == "tandem") {
    throw UsageError(concat("tandem launch: leave '", arguments.front(),
                            "' away behind --, where a command of this program stands, for example: ", example));
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
  RankLaunch launch = launchFrom(options);
  const Arguments command = end == arguments.end() ? Arguments() : Arguments(end + 1, arguments.end());
  requireLaunchable(command);
  launch.arguments = {command.begin(), command.end()};
  launchRanks(launch);
  return 0;
}

}  // namespace tandem
