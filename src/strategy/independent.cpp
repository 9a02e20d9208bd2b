#include "strategy/independent.h"

#include <ATen/ATen.h>

#include "strategy/initial_parameters.h"

namespace tandem {

Independent::Independent(const StrategyContext& context) {
  if (context.devices.size() > 1) groups_ = context.allReduce->make({context.devices, context.monitor});
}

void Independent::attach(Replica& replica) {
  if (!groups_.empty()) broadcastParameters(*groups_[replica.index], replica.buffers);
}

// The scale is 1: nothing is summed, so there is no mean over replicas to take.
void Independent::beginStep(Replica& replica, int64_t step) { replica.optimizer.beginStep(step, /*gradientScale=*/1); }

void Independent::endStep(Replica& replica) {
  const FlatBuffers& buffers = replica.buffers;
  for (int segment = 0; replica.lossScale != nullptr && segment < buffers.segments(); ++segment) {
    replica.lossScale->check(buffers.gradient(buffers.whole(segment)));
  }
  for (int segment = 0; segment < replica.buffers.segments(); ++segment) {
    replica.optimizer.update(replica.buffers.whole(segment));
  }
}

std::unique_ptr<Strategy> makeIndependent(const StrategyContext& context) {
  return std::make_unique<Independent>(context);
}

}  // namespace tandem
