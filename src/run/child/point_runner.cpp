#include "run/child/point_runner.h"

#include <atomic>
#include <memory>

#include "base/text.h"
#include "comm/listener.h"
#include "comm/world.h"
#include "config/device_set.h"
#include "run/child/rank_parents.h"
#include "run/child/worker_team.h"

namespace tandem {
namespace {

std::atomic<int> stopsWanted{0};
static_assert(std::atomic<int>::is_always_lock_free);

/// The ranks of a run whose workers all are children of this process.
std::vector<RankPlace> ownRanks(int count, int port) {
  std::vector<RankPlace> places;
  for (int rank = 0; rank < count; ++rank) {
    places.push_back(placeOnOneHost(rank, count, port));
  }
  return places;
}

}  // namespace

RunRecord PointRunner::run(const Config& config, const PointOptions& options, const PointEvents& events) const {
  const WorkerOrder order{.config = config, .sweepBegin = sweepBegin_};
  if (parents_ != nullptr) return parents_->run(executable_, order, options, events);
  const auto ranks = static_cast<int>(processCount(config));
  const std::unique_ptr<RankStore> store = ranks > 1 ? serveRanks(loopbackListener()) : nullptr;
  const auto reports = runWorkers(executable_, order, ownRanks(ranks, store ? store->port() : 0), options, events);
  return recordOf(reports, config.exchange.timeout);
}

void PointRunner::requestStop() noexcept { stopsWanted.fetch_add(1); }
int PointRunner::stopRequests() noexcept { return stopsWanted.load(); }

}  // namespace tandem
