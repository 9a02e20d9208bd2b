#include <ATen/ATen.h>

#include <algorithm>
#include <iterator>
#include <string>

#include "base/clock.h"
#include "base/error.h"
#include "base/text.h"
#include "comm/world.h"
#include "machine/cpu/topology.h"
#include "run/links/link_order.h"

namespace tandem {
namespace {

constexpr double timeoutSeconds = 60;

/// Ranks tell each other their values through the store by which they met.
class RankParties final : public Parties {
 public:
  explicit RankParties(World& world) : world_(world) {}

  double largest(double mine) override {
    double most = 0;
    for (const std::string& text : world_.exchange(concat(mine))) most = std::max(most, std::stod(text));
    return most;
  }

 private:
  World& world_;
};

/// The first call brings the ranks together and is not timed.
double secondsOf(RankGroup& group, const at::Tensor& tensor, Collective op, int64_t calls) {
  group.wait(group.start(tensor, op));
  const Nanos begin = now();
  for (int64_t i = 0; i < calls; ++i) group.wait(group.start(tensor, op));
  return seconds(now() - begin);
}

struct Work {
  const char* kind;
  Collective op;
};
constexpr Work works[] = {{"ranks", Collective::sum}, {"rank-broadcast", Collective::broadcast}};

/// Throws InternalError unless the operation leaves the sum, or rank 0's values, on this rank.
void checkResult(RankGroup& group, const at::Tensor& tensor, Collective op, int rank) {
  tensor.fill_(static_cast<float>(rank + 1));
  group.wait(group.start(tensor, op));
  const double expected = op == Collective::sum ? ranksOfLinks * (ranksOfLinks + 1) / 2.0 : 1.0;
  check(tensor.eq(expected).all().item<bool>(), "a collective between ranks that is measured is right");
  tensor.zero_();
}

/// The cores of this rank: half of them, or all where there is only one.
Device deviceOf(int rank) {
  const CorePlan plan = planCores(readTopology(), ranksOfLinks, 0, /*oversubscribe=*/true);
  const auto at = static_cast<size_t>(rank);
  return Device::cpu(rank, plan.threadsOf[at], plan.threadsPerReplica, {plan.nodeOf[at], plan.cacheOf[at]});
}

}  // namespace

// Gloo exchanges on threads of its own, which have this rank's cores. So the rank sleeps while it waits.
void measureRanks(const LinkOrder& order, const LinkSink& sink) {
  deviceOf(order.rank).bind();
  const auto world = meetRanks(placeOnOneHost(order.rank, ranksOfLinks, order.port, "links"), timeoutSeconds);
  Monitor monitor(/*block=*/true);
  const auto group = world->group("links", monitor);
  RankParties parties(*world);
  const RepetitionLimits limits = limitsOf(order, std::size(works));
  for (const Work& work : works) {
    LinkSeries series{.kind = work.kind,
                      .link = concat(ranksOfLinks, " ranks"),
                      .path = "loopback",
                      .way = "Gloo",
                      .parties = ranksOfLinks};
    for (const int64_t bytes : order.sizes) {
      const at::Tensor tensor = at::empty({bytes / static_cast<int64_t>(sizeof(float))}, at::kFloat);
      checkResult(*group, tensor, work.op, order.rank);
      series.times.push_back(
          timesOf(parties, limits, [&](int64_t calls) { return secondsOf(*group, tensor, work.op, calls); }));
      series.times.back().bytes = bytes;
    }
    if (order.rank == 0) sink(series);
  }
  parties.largest(0);  // nobody leaves while another one still exchanges
}

}  // namespace tandem
