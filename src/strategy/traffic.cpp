#include "strategy/traffic.h"

#include <ATen/ATen.h>

namespace tandem {

StrategyTraffic allReduceTraffic(const AllReduceEntry& algorithm, const FlatBuffers& buffers, size_t buckets,
                                 int replicas) {
  if (replicas == 1) return {};
  double gradientBytes = 0;
  for (int segment = 0; segment < buffers.segments(); ++segment) {
    gradientBytes += static_cast<double>(buffers.gradient(buffers.whole(segment)).nbytes());
  }
  return {.bytesPerStep = algorithm.receivedBytes(gradientBytes, replicas),
          .messagesPerStep = static_cast<double>(buckets) * algorithm.messages(replicas)};
}

}  // namespace tandem
