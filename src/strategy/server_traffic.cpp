#include "strategy/server_traffic.h"

#include <ATen/ATen.h>

#include <numeric>

#include "strategy/variable_placement.h"

namespace tandem {
namespace {

int ranksOf(const StrategyContext& context) { return context.world == nullptr ? 1 : context.world->place().size; }

}  // namespace

std::vector<int> serversOf(const StrategyContext& context) {
  const int64_t servers = context.servers.ranks == 0 ? ranksOf(context) : context.servers.ranks;
  std::vector<int> ranks(static_cast<size_t>(servers));
  std::iota(ranks.begin(), ranks.end(), 0);
  return ranks;
}

// Counts only what crosses between devices, and between ranks. With `cpu` each replica pulls all weights and pushes all
// gradients. On replicas, the owner of a variable has it already: (n - 1) / n of both cross. Between ranks all but the
// server of a variable send its gradient and get its weights.
StrategyTraffic serverTraffic(const FlatBuffers& buffers, const StrategyContext& context) {
  const auto n = static_cast<double>(context.devices.size());
  const int ranks = ranksOf(context);
  const double remote = context.parameterDevice == onHost ? 1.0 : (n - 1) / n;
  double bytes = 0;
  for (int i = 0; i < buffers.parameters(); ++i) {
    const Slice slice = buffers.slice(i);
    bytes += static_cast<double>(buffers.weights(slice).nbytes() + buffers.gradient(slice).nbytes());
  }
  const double between = (ranks - 1) / (ranks * n) * bytes;
  return {.bytesPerStep = remote * bytes + between,
          .messagesPerStep = remote * 2.0 * buffers.parameters(),
          .bytesBetweenRanks = between};
}

// Its gradient from each rank but the server, its weights to each of these.
double transfersPerReplica(const StrategyContext& context) {
  const int ranks = ranksOf(context);
  return 2.0 * (ranks - 1) / (ranks * static_cast<double>(context.devices.size()));
}

}  // namespace tandem
