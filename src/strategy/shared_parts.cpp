#include <ATen/ATen.h>

#include "comm/joined_group.h"
#include "strategy/builtin_strategies.h"

namespace tandem {

int64_t allReplicas(const StrategyContext& context) {
  return joinedPlace(0, static_cast<int>(context.devices.size()), context.world).size;
}

std::vector<std::unique_ptr<Group>> joinedGroups(const StrategyContext& context) {
  auto groups = context.allReduce->make({context.devices, context.monitor, context.world});
  if (context.allReduce->spansRanks) return groups;
  return joinRanks(std::move(groups), context.world, *context.monitor);
}

// A sum goes around a ring of ranks, then through the all-reduce, unless that spans them; a gather brings each part
// once.
StrategyTraffic joinedTraffic(const StrategyContext& context, Collective op, double bytes, double messages) {
  const auto replicas = static_cast<int>(context.devices.size());
  const int ranks = context.world == nullptr ? 1 : context.world->place().size;
  if (op == Collective::gather) {
    return {.bytesPerStep = (replicas * ranks - 1) * bytes, .messagesPerStep = (replicas + ranks - 2) * messages};
  }
  if (context.allReduce->spansRanks) {
    return {.bytesPerStep = context.allReduce->receivedBytes(bytes, replicas * ranks),
            .messagesPerStep = context.allReduce->messages(replicas * ranks) * messages};
  }
  const double between = 2.0 * (ranks - 1);  // the rounds of a ring
  return {.bytesPerStep = context.allReduce->receivedBytes(bytes, replicas) + between / ranks * bytes,
          .messagesPerStep = (context.allReduce->messages(replicas) + between) * messages};
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
