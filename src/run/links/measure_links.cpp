#include "run/links/measure_links.h"

#include <algorithm>
#include <iostream>
#include <iterator>
#include <memory>

#include "base/catalog.h"
#include "base/error.h"
#include "base/text.h"
#include "comm/listener.h"
#include "comm/world.h"
#include "device/allocator/cpu_allocator.h"
#include "machine/cpu/topology.h"
#include "machine/process/child_output.h"
#include "machine/process/resource_limits.h"
#include "machine/process/thread_limit.h"
#include "run/links/link_order.h"
#include "run/links/link_process.h"

namespace tandem {
namespace {

// A part repeats each size six times at least, whatever its seconds are, so it may take longer than those.
constexpr double patienceFactor = 4, patienceSeconds = 120;

/// What is measured in a process of its own. Parts run one after the other, so that none disturbs another one.
struct LinkPart {
  std::string_view name;
  double weight;  ///< its part of the seconds, relative to the other parts
  int processes;
  bool (*wanted)(const LinksRequest&);
  bool onGpus;
  void (*measure)(const LinkOrder&, const LinkSink&);
};

constexpr LinkPart parts[] = {
    {"cores", 2, 1, [](const LinksRequest& request) { return request.cpu; }, false, measureCores},
    {"replicas", 5, 1, [](const LinksRequest& request) { return request.cpu && !request.replicas.empty(); }, false,
     measureReplicas},
    {"ranks", 3, ranksOfLinks, [](const LinksRequest& request) { return request.cpu; }, false, measureRanks},
    {"gpu-copies", 4, 1, [](const LinksRequest& request) { return !request.gpus.empty(); }, true, measureGpuCopies},
    {"gpu-replicas", 4, 1, [](const LinksRequest& request) { return request.gpus.size() > 1; }, true, measureReplicas},
};

LinkOrder orderOf(const LinkPart& part, const LinksRequest& request, double seconds) {
  LinkOrder order{.part = std::string(part.name),
                  .sizes = request.sizes,
                  .repeats = request.repeats,
                  .seconds = seconds,
                  .replicas = request.replicas};
  if (part.onGpus) {
    order.gpus = request.gpus;
    order.replicas = replicaNumbers(std::ssize(request.gpus));
  }
  return order;
}

/// The most that a part starts beside its first: for each party, for the pools of its cores, and a few that watch or
/// talk to the other ranks.
int64_t threadsOf(const LinkOrder& order) {
  constexpr int64_t others = 8;
  const int64_t parties = order.replicas.empty() ? ranksOfLinks : std::ranges::max(order.replicas);
  return others + parties + 2 * std::ssize(readTopology().cores);
}

LinkEnd run(const std::string& executable, const LinkPart& part, const LinkOrder& order, const LinkSink& sink) {
  std::unique_ptr<RankStore> store;
  if (part.processes > 1) store = serveRanks(loopbackListener());
  std::vector<LinkOrder> orders(static_cast<size_t>(part.processes), order);
  for (int rank = 0; rank < part.processes; ++rank) {
    orders[static_cast<size_t>(rank)].rank = rank;
    if (store) orders[static_cast<size_t>(rank)].port = store->port();
  }
  return runLinkProcesses(executable, orders, patienceFactor * order.seconds + patienceSeconds, sink);
}

}  // namespace

int64_t bytesOfLinks(const LinksRequest& request) {
  const int64_t most = request.replicas.empty() ? 0 : std::ranges::max(request.replicas);
  return 2 * request.sizes.back() * std::max<int64_t>(most, ranksOfLinks);
}

void checkLinkMemory(const LinksRequest& request, int64_t available) {
  const int64_t needed = bytesOfLinks(request);
  if (needed <= available) return;
  throw UsageError(concat(
      "--sizes=", request.sizes.back(), ": needs about ", bytesText(static_cast<double>(needed)),
      " of memory (twice its bytes for each replica or rank), and ", bytesText(static_cast<double>(available)),
      " are available; lower the largest size",
      std::ranges::any_of(request.replicas, [](int64_t n) { return n > ranksOfLinks; }) ? ", or --replicas" : ""));
}

MeasuredLinks measureLinks(const std::string& executable, const LinksRequest& request,
                           const std::function<void(const std::string&)>& doing) {
  double weights = 0;
  for (const LinkPart& part : parts) weights += part.wanted(request) ? part.weight : 0;
  MeasuredLinks measured;
  for (const LinkPart& part : parts) {
    if (!part.wanted(request)) continue;
    doing(std::string(part.name));
    const LinkOrder order = orderOf(part, request, request.seconds * part.weight / weights);
    const LinkEnd end =
        run(executable, part, order, [&](const LinkSeries& series) { measured.series.push_back(series); });
    measured.stopped = end == LinkEnd::stopped;
    if (measured.stopped) break;
  }
  return measured;
}

int runLinksWorker() {
  requireParent("links-worker", "tandem links");
  installCpuAllocator();
  const LinkOrder order = orderOfLinks({std::istreambuf_iterator<char>(std::cin), std::istreambuf_iterator<char>()});
  try {
    requireThreads(threadsOf(order));
    find(std::span<const LinkPart>(parts), order.part, "part of links").measure(order, [](const LinkSeries& series) {
      sendLine(textOf(series) + '\n');
    });
  } catch (const std::exception& failure) {
    const Error known = explained(failure);
    sendLine(failureLine(known.code(), known.what()) + '\n');
    return static_cast<int>(known.code());
  }
  return 0;
}

}  // namespace tandem
