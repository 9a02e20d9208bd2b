#include "run/plan/thread_count.h"

namespace tandem {
namespace {

/// Groups in which a replica exchanges with those of other ranks. Each of several servers without replicas has groups
/// of its own with all that train.
int64_t groupsBetweenRanks(const RunPlan& plan) {
  if (plan.place.size == 1) return 0;
  const StrategyEntry& strategy = *plan.setup.strategy;
  const int64_t servers = plan.config.placement.servers;
  const bool apart = servers > 1 && !strategy.ranksUpdateAlone;
  const int64_t channels = 1 + (!apart ? 0 : servesAlone(plan) ? 1 : servers);
  return strategy.rankGroups * channels + (plan.config.exchange.syncBatchNorm ? 1 : 0);
}

}  // namespace

// Each replica's own, those of its two pools (OpenMP's and libtorch's), those that make batches, those of its exchange
// with other ranks, those that serve each of them, and a few that watch.
int64_t threadsOf(const RunPlan& plan) {
  constexpr int64_t watching = 4, ofGroup = 4;
  const int64_t serving = plan.setup.strategy->ranksUpdateAlone ? plan.place.size : 0;
  const Config& config = plan.config;
  return watching + serving +
         config.placement.replicas *
             (1 + 2 * plan.cores.threadsPerReplica + config.input.producers + ofGroup * groupsBetweenRanks(plan));
}

}  // namespace tandem
