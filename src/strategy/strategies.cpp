#include "strategy/independent.h"
#include "strategy/parameter_server.h"
#include "strategy/replicated.h"
#include "strategy/strategy.h"

namespace tandem {
namespace {

constexpr StrategyEntry table[] = {
    {"replicated", "parameters on every replica; gradients all-reduced in buckets during backward",
     Exchange::synchronous, makeReplicated},
    {"parameter_server", "parameters on --parameter-device; replicas pull them, gradients are summed there",
     Exchange::synchronous, makeParameterServer},
    {"independent", "no exchange: each replica trains alone (the control run)", Exchange::none, makeIndependent},
};

}  // namespace

std::span<const StrategyEntry> strategies() { return table; }

}  // namespace tandem
