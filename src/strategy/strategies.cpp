#include <algorithm>

#include "base/catalog.h"
#include "base/text.h"
#include "strategy/builtin_strategies.h"
#include "strategy/strategy.h"

namespace tandem {
namespace {

bool never(const AllReduceBySize&, int64_t) { return false; }
bool always(const AllReduceBySize&, int64_t) { return true; }
bool asAllReduce(const AllReduceBySize& allReduce, int64_t replicas) {
  return replicas == 1 || allReduce.all(&AllReduceEntry::enqueuesOnly);
}

/// Of every mode.
constexpr StrategyEntry server{
    .name = "parameter_server",
    .summary = "parameters on --parameter-device; replicas pull them, gradients are summed there",
    .exchange = Exchange::synchronous,
    .enqueuesOnly = never,
    .make = makeParameterServer,
    .clips = false,
    .canPause = true,
    .usesServer = true,
    .sendsGradients = true,
    .rankGroups = 2};

/// Gradients are those of older weights.
constexpr StrategyEntry staleServer(std::string_view mode, std::unique_ptr<Strategy> (*make)(const StrategyContext&),
                                    bool ranksUpdateAlone) {
  StrategyEntry row = server;
  row.mode = mode, row.make = make;
  row.exchange = Exchange::stale;
  row.canPause = false;
  row.runsOnGpus = row.sendsGradients = false;
  row.ranksUpdateAlone = ranksUpdateAlone;
  row.putsWeightsAside = !ranksUpdateAlone;
  return row;
}

constexpr ServerModeEntry modes[] = {
    {"sync", "an update is that of all replicas' gradients, and the next step starts from it", server},
    {"async",
     "each rank pulls weights, and pushes gradients that are an update by themselves; none waits for others, but for "
     "those that are more than --max-staleness updates behind",
     staleServer("async", makeAsyncServer, /*ranksUpdateAlone=*/true), /*usesStaleness=*/true},
    {"staged", "as sync, but weights are pulled while the step before computes, so they lack its update",
     staleServer("staged", makeStagedServer, /*ranksUpdateAlone=*/false)},
};

constexpr StrategyEntry table[] = {
    {.name = "replicated",
     .summary = "parameters on every replica; gradients all-reduced in buckets",
     .exchange = Exchange::synchronous,
     .enqueuesOnly = asAllReduce,
     .make = makeReplicated,
     .canPause = true,
     .usesAllReduce = true,
     .crossesRanksOnGpus = true,
     .ownersUpdate = true,
     .sendsGradients = true},
    server,
    {.name = "local_sgd",
     .summary = "replicas train alone, and average their weights every --sync-every steps",
     .exchange = Exchange::stale,
     .enqueuesOnly = always,
     .make = makeLocalSgd,
     .usesAllReduce = true,
     .crossesRanksOnGpus = true,
     .exchangesGradients = false,
     .usesLocalSgd = true,
     .ownValues = 2},
    {.name = "compressed",
     .summary = "as replicated, with gradients compressed by --compression; what is left out is added later",
     .exchange = Exchange::lossy,
     .enqueuesOnly = never,
     .make = makeCompressed,
     .usesAllReduce = true,
     .crossesRanksOnGpus = true,
     .usesCompression = true,
     .ownValues = 3},
    {.name = "independent",
     .summary = "no exchange: each replica trains alone (the control run)",
     .exchange = Exchange::none,
     .enqueuesOnly = always,
     .make = makeIndependent,
     .crossesRanksOnGpus = true,
     .exchangesGradients = false},
};

}  // namespace

std::span<const StrategyEntry> strategies() { return table; }
std::span<const ServerModeEntry> serverModes() { return modes; }

const StrategyEntry& strategyInMode(std::string_view strategy, std::string_view mode) {
  const StrategyEntry& row = find(strategies(), strategy, "--strategy");
  const ServerModeEntry& ofServers = find(serverModes(), mode, "--server-mode");
  return row.usesServer ? ofServers.strategy : row;
}

const StrategyEntry& strategyWithServers() {
  return *std::ranges::find(strategies(), true, &StrategyEntry::usesServer);
}

std::string optionsText(const StrategyEntry& strategy) {
  return strategy.mode.empty() ? std::string(strategy.name) : concat(strategy.name, " --server-mode=", strategy.mode);
}

}  // namespace tandem
