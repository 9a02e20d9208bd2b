#pragma once

#include <memory>

#include "strategy/strategy.h"

// The strategies in the rows of strategies(), and what they share.

namespace tandem {

/// Every replica holds all parameters; gradients are all-reduced in buckets, and every replica makes the same update.
/// If the all-reduce lets owners update, this is makeShardedUpdate(). REQUIRES: context.allReduce is set.
std::unique_ptr<Strategy> makeReplicated(const StrategyContext& context);

/// Every replica sums and updates the slices that it owns; replicas read each other's memory. REQUIRES: CPU devices.
std::unique_ptr<Strategy> makeShardedUpdate(const StrategyContext& context);

/// Parameters live on context.parameterDevice; replicas pull them, and their owners sum and update. Throws UsageError
/// if it names no device of the run.
std::unique_ptr<Strategy> makeParameterServer(const StrategyContext& context);

/// The same, with weights that are one update old. REQUIRES: CPU devices.
std::unique_ptr<Strategy> makeStagedServer(const StrategyContext& context);

/// The same, but each process pulls and pushes for itself, at most context.servers.maxStaleness rounds ahead of others.
/// REQUIRES: CPU devices.
std::unique_ptr<Strategy> makeAsyncServer(const StrategyContext& context);

/// The control run: equal initial parameters, then no exchange. REQUIRES: context.allReduce is set; its broadcast
/// distributes the initial parameters.
std::unique_ptr<Strategy> makeIndependent(const StrategyContext& context);

/// Replicas train alone and average their weights every few steps. REQUIRES: context.allReduce is set.
std::unique_ptr<Strategy> makeLocalSgd(const StrategyContext& context);

/// As makeReplicated(), with gradients that are compressed on the way. REQUIRES: context.allReduce is set.
std::unique_ptr<Strategy> makeCompressed(const StrategyContext& context);

/// Whether updates of a step must know all of its gradients first: those of a scaled loss, and clipped ones.
bool knowsAllFirst(const Replica& replica);
/// What they must know of a gradient whose exchange is complete: whether it is finite, and its norm. Each of the step
/// is noted once, and then clipNoted() comes before the first update.
void noteGradient(const Replica& replica, Slice slice);
void clipNoted(const Replica& replica);

/// The end of a step of a replica that trains alone: notes its gradients as far as that is needed, and updates.
void updateAlone(Replica& replica);

/// The replicas of all processes.
int64_t allReplicas(const StrategyContext& context);

/// The handles of this process's replicas of a group of all replicas of all processes (comm/joined_group.h), which sums
/// by context.allReduce.
std::vector<std::unique_ptr<Group>> joinedGroups(const StrategyContext& context);

/// What each replica receives when a tensor of `bytes` is exchanged with every replica of every process. The tensor of
/// a gather holds the parts of all.
StrategyTraffic joinedTraffic(const StrategyContext& context, Collective op, int64_t bytes);

/// Bytes of all gradients of a replica.
double gradientBytes(const FlatBuffers& buffers);

/// Bytes of the gradients in each of these buckets.
std::vector<int64_t> bytesOf(const FlatBuffers& buffers, std::span<const Slice> buckets);

}  // namespace tandem
