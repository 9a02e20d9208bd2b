#include <ATen/ATen.h>

#include "comm/joined_group.h"
#include "comm/local/replica_groups.h"
#include "strategy/builtin_strategies.h"

namespace tandem {

int64_t allReplicas(const StrategyContext& context) {
  return joinedPlace(0, static_cast<int>(context.devices.size()), context.world).size;
}

std::vector<std::unique_ptr<Group>> joinedGroups(const StrategyContext& context) {
  return context.allReduce.make({context.devices, context.monitor, context.world});
}

namespace {

/// Of a sum that the all-reduce leaves to Gloo's ring of so many ranks; `bytes` are those of a replica's tensor.
StrategyTraffic betweenRanks(BetweenRanks what, double bytes, int replicas, int ranks) {
  if (what == BetweenRanks::itself) return {.bytesBetweenRanks = ranks == 1 ? 0 : StrategyTraffic::notKnown};
  const double rounds = 2.0 * (ranks - 1);
  const double received = rounds / ranks * (what == BetweenRanks::slices ? bytes / replicas : bytes);
  return {received, rounds, received};
}

}  // namespace

// A gather brings each part once.
StrategyTraffic joinedTraffic(const StrategyContext& context, Collective op, int64_t bytes) {
  const auto replicas = static_cast<int>(context.devices.size());
  const int ranks = ranksOf(context.world);
  const auto size = static_cast<double>(bytes);
  if (op == Collective::gather) {
    const int all = replicas * ranks;
    const double part = size / all;
    return {(all - 1) * part, static_cast<double>(replicas + ranks - 2), (ranks - 1) * part};
  }
  const AllReduceEntry& row = context.allReduce.of(bytes);
  const int summing = row.spansRanks() ? replicas * ranks : replicas;
  StrategyTraffic traffic{row.receivedBytes(size, summing),
                          row.messages(summing, nearbyReplicas(context.devices).count())};
  return traffic += betweenRanks(row.betweenRanks(), size, replicas, ranks);
}

double gradientBytes(const FlatBuffers& buffers) {
  double bytes = 0;
  for (int segment = 0; segment < buffers.segments(); ++segment) {
    bytes += static_cast<double>(buffers.gradient(buffers.whole(segment)).nbytes());
  }
  return bytes;
}

std::vector<int64_t> bytesOf(const FlatBuffers& buffers, std::span<const Slice> buckets) {
  std::vector<int64_t> bytes;
  for (const Slice bucket : buckets) bytes.push_back(buffers.gradientBytes(bucket));
  return bytes;
}

bool knowsAllFirst(const Replica& replica) { return replica.lossScale != nullptr || replica.optimizer.clips(); }

void noteGradient(const Replica& replica, Slice slice) {
  if (replica.lossScale != nullptr) replica.lossScale->check(replica.buffers.gradient(slice));
  if (replica.optimizer.clips()) replica.optimizer.measure(slice);
}

void clipNoted(const Replica& replica) {
  if (replica.optimizer.clips()) replica.optimizer.clip(replica.optimizer.squares());
}

void updateAlone(Replica& replica) {
  const FlatBuffers& buffers = replica.buffers;
  for (int segment = 0; knowsAllFirst(replica) && segment < buffers.segments(); ++segment) {
    noteGradient(replica, buffers.whole(segment));
  }
  clipNoted(replica);
  for (int segment = 0; segment < replica.buffers.segments(); ++segment) {
    replica.optimizer.update(replica.buffers.whole(segment));
  }
}

}  // namespace tandem
