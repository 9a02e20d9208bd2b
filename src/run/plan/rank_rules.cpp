#include <algorithm>

#include "base/text.h"
#include "config/device_set.h"
#include "config/option.h"
#include "config/split.h"
#include "run/plan/rule_check.h"
#include "run/plan/rules.h"

namespace tandem {
namespace {

/// "--ranks=2", "--ranks=1 --servers=1".
std::string processesText(const Config& config) {
  const int64_t servers = config.placement.servers;
  return concat("--ranks=", config.placement.ranks, servers > 0 ? concat(" --servers=", servers) : "");
}

Breach allReduceSpansRanks(const Config& config, const Setup& setup) {
  const auto spans = [](const AllReduceEntry* row) { return row->spansRanks(); };
  const bool spansAll = std::ranges::all_of(setup.allReduce.rows(), spans);
  if (config.placement.ranks == 1 || setup.onCpu() || spansAll) return std::nullopt;
  return concat("--all-reduce=", config.exchange.allReduce, " with --ranks=", config.placement.ranks, " on GPUs",
                ": it exchanges within one process; those between ranks' GPUs: ",
                thoseWith("--all-reduce", allReduces(), &AllReduceEntry::spansRanks));
}

Breach strategyCrossesRanks(const Config& config, const Setup& setup) {
  if (processCount(config) == 1 || setup.onCpu() || setup.strategy->crossesRanksOnGpus) return std::nullopt;
  return concat(processesText(config), " with --strategy=", config.exchange.strategy,
                " --devices=", config.placement.devices,
                ": between ranks it exchanges by Gloo, from the memory of CPUs; those between ranks there: ",
                thoseWith("--strategy", strategies(), &StrategyEntry::crossesRanksOnGpus));
}

Breach serversAreRanks(const Config& config, const Setup& setup) {
  const int64_t some = config.exchange.serverRanks, ranks = config.placement.ranks;
  if (some == 0 || !setup.strategy->usesServer) return std::nullopt;
  if (config.placement.servers > 0) {
    return concat("--server-ranks=", some, " with --servers=", config.placement.servers,
                  ": variables are on ranks, or on processes that only serve; leave one of them out");
  }
  if (some <= ranks) return std::nullopt;
  return concat("--server-ranks=", some, " with --ranks=", ranks, ": so many ranks are not there; give at most ", ranks,
                ", or 0 for all");
}

/// A process that only serves takes part in what all ranks do, but has no replica to measure.
Breach serversHaveWork(const Config& config, const Setup& setup) {
  if (config.placement.servers == 0) return std::nullopt;
  const std::string given = concat("--servers=", config.placement.servers, " with ");
  if (!setup.strategy->usesServer) {
    return concat(given, "--strategy=", config.exchange.strategy, ": it keeps no variables on servers; use ",
                  thoseWith("--strategy", strategies(), &StrategyEntry::usesServer), ", or leave --servers away");
  }
  if (config.step.forwardOnly) {
    return concat(given, optionWithoutTraining(config.step), ": nothing is updated; leave one of them out");
  }
  if (config.exchange.syncBatchNorm) {
    return concat(given, "--sync-batch-norm: statistics go between replicas; leave one of them out");
  }
  if (!parseSplit(config.step.split).value().measured) return std::nullopt;
  return concat(given, "--split=", config.step.split,
                ": the trials before the run are made by ranks with replicas alone; give the shares, as 3:1");
}

Breach serverModeRunsThere(const Config& config, const Setup& setup) {
  if (setup.onCpu() || setup.strategy->runsOnGpus) return std::nullopt;
  return concat("--server-mode=", config.exchange.serverMode, " with --devices=", config.placement.devices,
                ": it is built for CPUs; use --server-mode=", Config().exchange.serverMode, ", or --devices=cpu");
}

/// The order of updates is that of their arrival, unless each waits for its turn.
Breach updatesComeInOneOrder(const Config& config, const Setup& setup) {
  if (!config.numerics.deterministic || !setup.strategy->ranksUpdateAlone || config.exchange.maxStaleness == 0)
    return std::nullopt;
  return concat(
      "--deterministic with --server-mode=", config.exchange.serverMode,
      " --max-staleness=", config.exchange.maxStaleness,
      ": updates are made in the order in which they come; use --max-staleness=0, or leave --deterministic away");
}

/// Each is compared before the next one starts, so all ranks must start them in one order.
Breach collectivesHaveOneOrder(const Config& config, const Setup& setup) {
  if (!config.exchange.checkCollectives || !setup.strategy->usesServer || processCount(config) == 1)
    return std::nullopt;
  return concat("--check-collectives with --strategy=", config.exchange.strategy,
                " --server-mode=", config.exchange.serverMode, ' ', processesText(config), ": ",
                setup.strategy->ranksUpdateAlone ? "its ranks make no collectives"
                                                 : "its gradients and weights take turns as they come, on each rank "
                                                   "in another order",
                "; leave one of them out");
}

constexpr Breach (*rankRules[])(const Config&, const Setup&) = {
    allReduceSpansRanks, strategyCrossesRanks,  serversAreRanks,         serversHaveWork,
    serverModeRunsThere, updatesComeInOneOrder, collectivesHaveOneOrder,
};

}  // namespace

void checkRanks(const Config& config, const Setup& setup) { requireAll(rankRules, config, setup); }

}  // namespace tandem
