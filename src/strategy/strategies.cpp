#include "strategy/builtin_strategies.h"
#include "strategy/strategy.h"

namespace tandem {
namespace {

bool never(const AllReduceBySize&, int64_t) { return false; }
bool always(const AllReduceBySize&, int64_t) { return true; }
bool asAllReduce(const AllReduceBySize& allReduce, int64_t replicas) {
  return replicas == 1 || allReduce.all(&AllReduceEntry::enqueuesOnly);
}

constexpr StrategyEntry table[] = {
    {.name = "replicated",
     .summary = "parameters on every replica; gradients all-reduced in buckets",
     .exchange = Exchange::synchronous,
     .enqueuesOnly = asAllReduce,
     .make = makeReplicated,
     .usesAllReduce = true,
     .crossesRanks = true,
     .crossesRanksOnGpus = true,
     .ownersUpdate = true,
     .sendsGradients = true},
    {.name = "parameter_server",
     .summary = "parameters on --parameter-device; replicas pull them, gradients are summed there",
     .exchange = Exchange::synchronous,
     .enqueuesOnly = never,
     .make = makeParameterServer,
     .crossesRanks = true,
     .usesParameterDevice = true,
     .sendsGradients = true,
     .rankGroups = 2},
    {.name = "local_sgd",
     .summary = "replicas train alone, and average their weights every --sync-every steps",
     .exchange = Exchange::stale,
     .enqueuesOnly = always,
     .make = makeLocalSgd,
     .usesAllReduce = true,
     .crossesRanks = true,
     .crossesRanksOnGpus = true,
     .usesLocalSgd = true,
     .ownValues = 2},
    {.name = "compressed",
     .summary = "as replicated, with gradients compressed by --compression; what is left out is added later",
     .exchange = Exchange::lossy,
     .enqueuesOnly = never,
     .make = makeCompressed,
     .usesAllReduce = true,
     .crossesRanks = true,
     .crossesRanksOnGpus = true,
     .usesCompression = true,
     .ownValues = 3},
    {.name = "independent",
     .summary = "no exchange: each replica trains alone (the control run)",
     .exchange = Exchange::none,
     .enqueuesOnly = always,
     .make = makeIndependent,
     .crossesRanks = true,
     .crossesRanksOnGpus = true},
};

}  // namespace

std::span<const StrategyEntry> strategies() { return table; }

}  // namespace tandem
