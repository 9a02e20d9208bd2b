#pragma once

#include <vector>

#include "strategy/strategy.h"

// Which ranks serve, and what servers and replicas exchange, whoever waits for whom.

namespace tandem {

/// The ranks that update variables.
std::vector<int> serversOf(const StrategyContext& context);

/// The number of ranks whose replicas make gradients. They are the first.
int workersOf(const StrategyContext& context);

/// Whether this rank makes none.
bool servesAlone(const StrategyContext& context);

/// What a replica receives in a step; without the messages between ranks.
StrategyTraffic serverTraffic(const FlatBuffers& buffers, const StrategyContext& context);

/// How often a message of one replica of each rank travels between ranks in a step, shared out to all replicas.
double transfersPerReplica(const StrategyContext& context);

}  // namespace tandem
