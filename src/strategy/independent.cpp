#include <ATen/ATen.h>

#include <vector>

#include "strategy/builtin_strategies.h"

namespace tandem {
namespace {

/// The control run: every replica starts from replica 0's parameters, then trains alone on its own batches.
class Independent final : public Strategy {
 public:
  /// REQUIRES: context.allReduce is set; its broadcast distributes the initial parameters.
  explicit Independent(const StrategyContext& context);

  void attach(Replica& replica) override;
  void beginStep(Replica& replica, int64_t step) override;
  void endStep(Replica& replica) override;
  StrategyTraffic traffic() const override { return {}; }

 private:
  std::vector<std::unique_ptr<Group>> groups_;  // one per replica; none with one replica
  std::unique_ptr<RankGroup> ranks_;            // of replica 0; none with one process
};

Independent::Independent(const StrategyContext& context) {
  if (context.devices.size() > 1) groups_ = context.allReduce->make({context.devices, context.monitor});
  if (context.world != nullptr) ranks_ = context.world->group("replica 0", *context.monitor);
}

void Independent::attach(Replica& replica) {
  if (ranks_ && replica.index == 0) broadcastParameters(*ranks_, replica.buffers);
  if (!groups_.empty()) broadcastParameters(*groups_[replica.index], replica.buffers);
}

// The scale is 1: nothing is summed, so there is no mean over replicas to take.
void Independent::beginStep(Replica& replica, int64_t step) { replica.optimizer.beginStep(step, /*gradientScale=*/1); }

void Independent::endStep(Replica& replica) { updateAlone(replica); }

}  // namespace

std::unique_ptr<Strategy> makeIndependent(const StrategyContext& context) {
  return std::make_unique<Independent>(context);
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
