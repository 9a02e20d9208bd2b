#pragma once

#include "comm/group.h"
#include "strategy/strategy.h"

namespace tandem {

/// The traffic of all-reducing the gradients of `buffers` in `buckets` buckets; none with one replica.
StrategyTraffic allReduceTraffic(const AllReduceEntry& algorithm, const FlatBuffers& buffers, size_t buckets,
                                 int replicas);

}  // namespace tandem
