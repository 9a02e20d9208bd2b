#pragma once

#include <vector>

#include "strategy/strategy.h"

namespace tandem {

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
};

std::unique_ptr<Strategy> makeIndependent(const StrategyContext& context);

}  // namespace tandem
