#include "run/child/launched_ranks.h"

#include <algorithm>
#include <map>

#include "base/error.h"
#include "base/text.h"
#include "comm/rank_roles.h"
#include "strategy/strategy.h"

namespace tandem {
namespace {

/// The environment, in which options of this command stand for variables.
Variables variablesOf(const Config::Exchange& options) {
  const std::map<std::string, std::string> given{
      {"MASTER_ADDR", options.masterAddr},
      {"MASTER_PORT", options.masterPort == 0 ? "" : concat(options.masterPort)},
      {interfaceVariable, options.interface}};
  return [given, environment = variablesOfProcess()](const std::string& name) {
    const auto option = given.find(name);
    return option == given.end() || option->second.empty() ? environment(name) : std::optional(option->second);
  };
}

/// What is measured does not depend on where the processes are, and a record is of all of them.
void forgetRole(Config::Exchange& options) {
  const Config::Exchange none;
  options.job = none.job, options.taskIndex = none.taskIndex;
  options.workerHosts = none.workerHosts, options.psHosts = none.psHosts;
}

/// This process among those that somebody starts with --job. They are all that each point has.
std::optional<LaunchedRank> takeRole(Sweep& sweep) {
  const Config::Exchange& options = sweep.base.exchange;
  const auto roled =
      rankPlaceFromRoles({options.job, options.taskIndex, options.workerHosts, options.psHosts}, variablesOf(options));
  if (!roled) return std::nullopt;
  for (const char* option : {"ranks", "servers", "master-addr", "master-port"}) {
    if (!sweep.has(option)) continue;
    throw UsageError(concat("--", option, " with --job=", options.job,
                            ": --worker-hosts and --ps-hosts say how many processes there are and where they meet; "
                            "leave --",
                            option, " away"));
  }
  sweep.base.placement.ranks = roled->workers, sweep.base.placement.servers = roled->servers;
  if (roled->servers > 0 && !sweep.has("strategy")) {
    sweep.base.exchange.strategy = strategyWithServers().name;
    sweep.given.emplace_back("strategy");
    sweep.notes.push_back(concat("--ps-hosts: --strategy=", sweep.base.exchange.strategy));
  }
  forgetRole(sweep.base.exchange);
  if (roled->place.size == 1) return std::nullopt;
  return LaunchedRank{.place = roled->place, .launcher = "--job"};
}

}  // namespace

std::optional<LaunchedRank> takeLaunchedRanks(Sweep& sweep) {
  if (auto roled = takeRole(sweep)) return roled;
  auto launched = rankPlaceFromEnvironment(variablesOf(sweep.base.exchange));
  if (!launched) return launched;
  if (sweep.has("ranks")) {
    throw UsageError(concat("--ranks with a launcher, which started ", launched->place.size,
                            " ranks of this run; leave --ranks away, or start tandem by itself"));
  }
  const auto isServers = [](const Axis& axis) { return axis.option->name == "servers"; };
  if (std::ranges::any_of(sweep.axes, isServers)) {
    throw UsageError(
        "--servers has several values with a launcher, whose ranks have their roles for all points; give one");
  }
  int64_t& servers = sweep.base.placement.servers;
  if (servers >= launched->place.size) {
    throw UsageError(concat("--servers=", servers, " with a launcher, which started ", launched->place.size,
                            " ranks of this run: none is left to train; lower --servers"));
  }
  sweep.base.placement.ranks = launched->place.size - servers;
  return launched;
}

std::string sharedArguments(std::span<const std::string> arguments) {
  std::vector<std::string> shared;
  for (size_t i = 0; i < arguments.size(); ++i) {
    std::string name = arguments[i].substr(0, arguments[i].find('='));
    std::ranges::replace(name, '_', '-');
    if (name != "--job" && name != "--job-name" && name != "--task-index") {
      shared.push_back(arguments[i]);
    } else if (arguments[i].find('=') == std::string::npos) {
      ++i;  // its value
    }
  }
  return join(shared, " ");
}

}  // namespace tandem
