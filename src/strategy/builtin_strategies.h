#pragma once

#include <memory>

#include "strategy/strategy.h"

// The strategies in the rows of strategies(), and what they share.

namespace tandem {

/// Every replica holds all parameters; gradients are all-reduced in buckets, and every replica makes the same update.
/// If the all-reduce lets owners update, this is makeShardedUpdate(). REQUIRES: context.allReduce is set, bucketBytes >
/// 0.
std::unique_ptr<Strategy> makeReplicated(const StrategyContext& context);

/// Every replica sums and updates the slices that it owns; replicas read each other's memory. REQUIRES: CPU devices,
/// bucketBytes > 0.
std::unique_ptr<Strategy> makeShardedUpdate(const StrategyContext& context);

/// Parameters live on context.parameterDevice; replicas pull them, and their owners sum and update. Throws UsageError
/// if it names no device of the run.
std::unique_ptr<Strategy> makeParameterServer(const StrategyContext& context);

/// The control run: equal initial parameters, then no exchange. REQUIRES: context.allReduce is set; its broadcast
/// distributes the initial parameters.
std::unique_ptr<Strategy> makeIndependent(const StrategyContext& context);

/// The traffic of all-reducing the gradients of `buffers` in `buckets` buckets between the replicas of a process, and
/// from each replica its part of the sum between `ranks` processes around a ring. None with one replica in all.
StrategyTraffic allReduceTraffic(const AllReduceEntry& algorithm, const FlatBuffers& buffers, size_t buckets,
                                 int replicas, int ranks = 1);

}  // namespace tandem
