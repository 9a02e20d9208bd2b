#include "run/plan/thread_count.h"

namespace tandem {
namespace {

/// Groups in which a replica exchanges with those of other ranks.
int64_t groupsBetweenRanks(const RunPlan& plan) {
  if (plan.place.size == 1) return 0;
  return plan.setup.strategy->rankGroups + (plan.config.exchange.syncBatchNorm ? 1 : 0);
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
