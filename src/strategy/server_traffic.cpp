#include "strategy/server_traffic.h"

#include <ATen/ATen.h>

#include <numeric>

#include "strategy/variable_placement.h"

namespace tandem {
std::vector<int> serversOf(const StrategyContext& context) {
  const ServerOptions& options = context.servers;
  const int first = options.alone > 0 ? workersOf(context) : 0;
  const int64_t some = options.alone > 0 ? options.alone : options.ranks;
  std::vector<int> ranks(static_cast<size_t>(some > 0 ? some : ranksOf(context.world)));
  std::iota(ranks.begin(), ranks.end(), first);
  return ranks;
}

int workersOf(const StrategyContext& context) {
  return ranksOf(context.world) - static_cast<int>(context.servers.alone);
}

bool servesAlone(const StrategyContext& context) {
  return context.world != nullptr && context.world->place().rank >= workersOf(context);
}

// Counts only what crosses between devices, and between ranks. With `cpu` each replica pulls all weights and pushes all
// gradients. On replicas, the owner of a variable has it already: (n - 1) / n of both cross. Between ranks all that
// train but the server of a variable send its gradient and get its weights.
StrategyTraffic serverTraffic(const FlatBuffers& buffers, const StrategyContext& context) {
  const auto n = static_cast<double>(context.devices.size());
  const double remote = context.parameterDevice == onHost ? 1.0 : (n - 1) / n;
  double bytes = 0;
  for (int i = 0; i < buffers.parameters(); ++i) {
    const Slice slice = buffers.slice(i);
    bytes += static_cast<double>(buffers.weights(slice).nbytes() + buffers.gradient(slice).nbytes());
  }
  const double between = transfersPerReplica(context) / 2 * bytes;
  return {.bytesPerStep = remote * bytes + between,
          .messagesPerStep = remote * 2.0 * buffers.parameters(),
          .bytesBetweenRanks = between};
}

// Its gradient from each rank that trains but the server, its weights to each of these.
double transfersPerReplica(const StrategyContext& context) {
  const int workers = workersOf(context), others = context.servers.alone > 0 ? workers : workers - 1;
  return 2.0 * others / (workers * static_cast<double>(context.devices.size()));
}

}  // namespace tandem
