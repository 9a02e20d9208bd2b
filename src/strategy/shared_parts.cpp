#include <ATen/ATen.h>

#include "comm/joined_group.h"
#include "comm/local/replica_groups.h"
#include "strategy/builtin_strategies.h"

namespace tandem {

int64_t allReplicas(const StrategyContext& context) {
  return joinedPlace(0, static_cast<int>(context.devices.size()), context.world).size;
}

std::vector<std::unique_ptr<Group>> joinedGroups(const StrategyContext& context) {
  return context.allReduce->make({context.devices, context.monitor, context.world});
}

namespace {

/// Of a sum that the all-reduce leaves to Gloo's ring of so many ranks; `bytes` are those of a replica's tensor.
StrategyTraffic betweenRanks(BetweenRanks what, double bytes, int replicas, int ranks) {
  const double rounds = 2.0 * (ranks - 1);
  const double sent = what == BetweenRanks::slices ? bytes / replicas : bytes;
  return {.bytesPerStep = rounds / ranks * sent, .messagesPerStep = rounds};
}

}  // namespace

// A gather brings each part once.
StrategyTraffic joinedTraffic(const StrategyContext& context, Collective op, double bytes, double messages) {
  const AllReduceEntry& allReduce = *context.allReduce;
  const auto replicas = static_cast<int>(context.devices.size());
  const int ranks = context.world == nullptr ? 1 : context.world->place().size;
  if (op == Collective::gather) {
    return {.bytesPerStep = (replicas * ranks - 1) * bytes, .messagesPerStep = (replicas + ranks - 2) * messages};
  }
  const int summing = allReduce.spansRanks() ? replicas * ranks : replicas;
  const StrategyTraffic between =
      allReduce.spansRanks() ? StrategyTraffic() : betweenRanks(allReduce.betweenRanks, bytes, replicas, ranks);
  const double within = allReduce.messages(summing, nearbyReplicas(context.devices).count());
  return {.bytesPerStep = allReduce.receivedBytes(bytes, summing) + between.bytesPerStep,
          .messagesPerStep = (within + between.messagesPerStep) * messages};
}

double gradientBytes(const FlatBuffers& buffers) {
  double bytes = 0;
  for (int segment = 0; segment < buffers.segments(); ++segment) {
    bytes += static_cast<double>(buffers.gradient(buffers.whole(segment)).nbytes());
  }
  return bytes;
}

void updateAlone(Replica& replica) {
  const FlatBuffers& buffers = replica.buffers;
  for (int segment = 0; replica.lossScale != nullptr && segment < buffers.segments(); ++segment) {
    replica.lossScale->check(buffers.gradient(buffers.whole(segment)));
  }
  for (int segment = 0; segment < replica.buffers.segments(); ++segment) {
    replica.optimizer.update(replica.buffers.whole(segment));
  }
}

}  // namespace tandem
