#include <ATen/ATen.h>

#include <algorithm>
#include <iterator>
#include <set>
#include <string>

#include "base/clock.h"
#include "base/error.h"
#include "base/text.h"
#include "comm/world.h"
#include "device/allocator/cpu_allocator.h"
#include "machine/cpu/topology.h"
#include "run/links/link_order.h"
#include "run/links/measure_links.h"

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
void checkResult(RankGroup& group, const at::Tensor& tensor, Collective op, const RankPlace& place) {
  tensor.fill_(static_cast<float>(place.rank + 1));
  group.wait(group.start(tensor, op));
  const double expected = op == Collective::sum ? place.size * (place.size + 1) / 2.0 : 1.0;
  check(tensor.eq(expected).all().item<bool>(), "a collective between ranks that is measured is right");
  tensor.zero_();
}

/// The cores of this rank: its part of the host's, or all where there are fewer than ranks.
Device deviceOf(const RankPlace& place) {
  const CorePlan plan = planCores(readTopology(), place.localSize, 0, /*oversubscribe=*/true);
  const auto at = static_cast<size_t>(place.localRank);
  return Device::onCores(place.localRank, plan, at);
}

std::string pathBetween(const std::vector<std::string>& ofRanks) {
  const std::set<std::string> hosts(ofRanks.begin(), ofRanks.end());
  if (hosts.size() == 1) return "loopback";
  if (hosts.size() == 2) return concat(*hosts.begin(), " - ", *hosts.rbegin());
  return concat(hosts.size(), " hosts");
}

// Gloo exchanges on threads of its own, which have this rank's cores. So the rank sleeps while it waits.
void measureBetween(const RankPlace& place, const LinkOrder& order, const LinkSink& sink) {
  deviceOf(place).bind();
  const auto world = meetRanks(place, timeoutSeconds);
  Monitor monitor(/*block=*/true);
  const auto group = world->group("links", monitor);
  RankParties parties(*world);
  const RepetitionLimits limits = limitsOf(order, std::size(works));
  for (const Work& work : works) {
    LinkSeries series{.kind = work.kind,
                      .link = concat(place.size, " ranks"),
                      .path = pathBetween(world->hosts()),
                      .way = "Gloo",
                      .parties = place.size};
    for (const int64_t bytes : order.sizes) {
      const at::Tensor tensor = at::empty({bytes / static_cast<int64_t>(sizeof(float))}, at::kFloat);
      checkResult(*group, tensor, work.op, place);
      series.times.push_back(
          timesOf(parties, limits, [&](int64_t calls) { return secondsOf(*group, tensor, work.op, calls); }));
      series.times.back().bytes = bytes;
    }
    if (place.rank == 0) sink(series);
  }
  parties.largest(0);  // nobody leaves while another one still exchanges
}

}  // namespace

void measureRanks(const LinkOrder& order, const LinkSink& sink) {
  measureBetween(placeOnOneHost(order.rank, ranksOfLinks, order.port, "links"), order, sink);
}

std::vector<LinkSeries> measureLaunchedRanks(const RankPlace& place, const LinksRequest& request) {
  installCpuAllocator();
  RankPlace own = place;
  own.run += "/links";
  const LinkOrder order{
      .part = "ranks", .sizes = request.sizes, .repeats = request.repeats, .seconds = request.seconds};
  std::vector<LinkSeries> all;
  measureBetween(own, order, [&](const LinkSeries& series) { all.push_back(series); });
  return all;
}

}  // namespace tandem
