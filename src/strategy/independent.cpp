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
  std::vector<std::unique_ptr<Group>> groups_;  // one per replica; none where there is one replica in all
};

Independent::Independent(const StrategyContext& context) {
  if (allReplicas(context) > 1) groups_ = joinedGroups(context);
}

void Independent::attach(Replica& replica) {
  if (!groups_.empty()) broadcastParameters(*groups_[replica.index], replica.buffers);
}

// The scale is 1: nothing is summed, so there is no mean over replicas to take.
void Independent::beginStep(Replica& replica, int64_t step) { replica.optimizer.beginStep(step, /*gradientScale=*/1); }

void Independent::endStep(Replica& replica) { updateAlone(replica); }

}  // namespace

std::unique_ptr<Strategy> makeIndependent(const StrategyContext& context) {
  return std::make_unique<Independent>(context);
}

}  // namespace tandem
