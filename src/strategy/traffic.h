#pragma once

#include "comm/group.h"
#include "strategy/strategy.h"

namespace tandem {

/// Of all-reducing the gradients of `buffers` in so many buckets; nothing with one replica.
StrategyTraffic allReduceTraffic(const AllReduceEntry& algorithm, const FlatBuffers& buffers, size_t buckets,
                                 int replicas);

}  // namespace tandem
