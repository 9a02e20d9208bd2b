#pragma once

#include <memory>
#include <span>
#include <vector>

#include "kernels/norm/statistics_exchange.h"
#include "strategy/strategy.h"

namespace tandem {

/// The exchange of batch-norm's statistics between the replicas of all processes, one handle for each replica of this
/// one. They go through the groups of context.allReduce. The context's devices, monitor and world outlive them.
std::vector<std::unique_ptr<StatisticsExchange>> joinStatistics(const StrategyContext& context);

/// What each replica receives in a step whose batch-norms, with these channels, exchange their statistics `parts`
/// times.
StrategyTraffic statisticsTraffic(const StrategyContext& context, std::span<const int64_t> channels, int64_t parts);

}  // namespace tandem
