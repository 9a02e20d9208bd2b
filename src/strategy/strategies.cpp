#include "strategy/builtin_strategies.h"
#include "strategy/strategy.h"

namespace tandem {
namespace {

bool never(const AllReduceEntry&, int64_t) { return false; }
bool always(const AllReduceEntry&, int64_t) { return true; }
bool asAllReduce(const AllReduceEntry& allReduce, int64_t replicas) { return replicas == 1 || allReduce.enqueuesOnly; }

constexpr StrategyEntry table[] = {
    {"replicated", "parameters on every replica; gradients all-reduced in buckets", Exchange::synchronous, asAllReduce,
     makeReplicated, /*usesAllReduce=*/true, /*crossesRanks=*/true, /*usesParameterDevice=*/false,
     /*ownersUpdate=*/true},
    {"parameter_server", "parameters on --parameter-device; replicas pull them, gradients are summed there",
     Exchange::synchronous, never, makeParameterServer, /*usesAllReduce=*/false, /*crossesRanks=*/false,
     /*usesParameterDevice=*/true},
    {"local_sgd", "replicas train alone, and average their weights every --sync-every steps", Exchange::stale, always,
     makeLocalSgd, /*usesAllReduce=*/true, /*crossesRanks=*/true, /*usesParameterDevice=*/false, /*ownersUpdate=*/false,
     /*usesLocalSgd=*/true, /*usesCompression=*/false, /*ownValues=*/2},
    {"compressed", "as replicated, with gradients compressed by --compression; what is left out is added later",
     Exchange::lossy, never, makeCompressed, /*usesAllReduce=*/true, /*crossesRanks=*/true,
     /*usesParameterDevice=*/false, /*ownersUpdate=*/false, /*usesLocalSgd=*/false, /*usesCompression=*/true,
     /*ownValues=*/3},
    {"independent", "no exchange: each replica trains alone (the control run)", Exchange::none, always, makeIndependent,
     /*usesAllReduce=*/false, /*crossesRanks=*/true},
};

}  // namespace

std::span<const StrategyEntry> strategies() { return table; }

}  // namespace tandem
