#include <ATen/ATen.h>

#include <algorithm>

#include "base/clock.h"
#include "base/error.h"
#include "base/text.h"
#include "comm/group.h"
#include "machine/cpu/topology.h"
#include "machine/gpu/gpu_topology.h"
#include "run/links/link_order.h"

namespace tandem {
namespace {

std::vector<const AllReduceEntry*> algorithmsOn(bool gpus) {
  std::vector<const AllReduceEntry*> rows;
  for (const AllReduceEntry& row : allReduces()) {
    if ((gpus ? row.onCuda : row.onCpu) && !row.ownersUpdate) rows.push_back(&row);
  }
  return rows;
}

/// Replicas on their devices.
struct Team {
  std::vector<Device> devices;
  std::string path;  ///< between them
};

Team teamOnCores(int64_t replicas) {
  const CorePlan plan = planCores(readTopology(), replicas, 0, /*oversubscribe=*/false);
  Team team;
  for (size_t i = 0; i < plan.threadsOf.size(); ++i) {
    team.devices.push_back(Device::onCores(static_cast<int>(i), plan, i));
  }
  team.path = sharedBy(plan.threadsOf);
  return team;
}

Team teamOnGpus(std::vector<int> gpus, int64_t replicas) {
  gpus.resize(static_cast<size_t>(replicas));
  Team team;
  for (const int gpu : gpus) team.devices.push_back(Device::cuda(gpu));
  team.path = pathsAmong(gpuLinks(), gpus);
  return team;
}

/// One replica's way through an all-reduce.
struct Replica {
  Group& group;
  const Device& device;
  Monitor& monitor;

  at::Tensor tensorOf(int64_t bytes) const {
    const int64_t count = bytes / static_cast<int64_t>(sizeof(float));
    const at::Tensor own = group.memory(count, at::kFloat);
    return own.defined() ? own : at::empty({count}, at::TensorOptions().dtype(at::kFloat).device(device.torch()));
  }

  void allReduce(const at::Tensor& tensor) const { group.wait(group.start(tensor, Collective::sum)); }

  /// Throws InternalError unless every replica holds the sum of all.
  void checkSum(const at::Tensor& tensor, int replica, int replicas) const {
    tensor.fill_(static_cast<float>(replica + 1));
    allReduce(tensor);
    const double expected = replicas * (replicas + 1) / 2.0;
    check(tensor.eq(expected).all().item<bool>(), "an all-reduce that is measured sums right");
    tensor.zero_();
  }

  /// The first call brings the replicas together and is not timed.
  double seconds(const at::Tensor& tensor, int64_t calls) const {
    allReduce(tensor);
    device.synchronize(monitor);
    const Nanos begin = now();
    for (int64_t i = 0; i < calls; ++i) allReduce(tensor);
    device.synchronize(monitor);
    return tandem::seconds(now() - begin);
  }
};

LinkSeries measure(const AllReduceEntry& row, const Team& team, const LinkOrder& order,
                   const RepetitionLimits& limits) {
  const int replicas = static_cast<int>(team.devices.size());
  Monitor monitor(/*block=*/false);
  GroupOptions options{.devices = {}, .monitor = &monitor};
  for (const Device& device : team.devices) options.devices.push_back(&device);
  const auto groups = row.make(options);
  const auto parties = threadParties(monitor, replicas);
  LinkSeries series{.kind = "replicas",
                    .link = concat(replicas, order.gpus.empty() ? " replicas" : " GPUs"),
                    .path = team.path,
                    .way = std::string(row.name),
                    .parties = replicas};
  onThreads(monitor, replicas, [&](int party) {
    const auto at = static_cast<size_t>(party);
    team.devices[at].bind();
    const Replica replica{*groups[at], team.devices[at], monitor};
    for (const int64_t bytes : order.sizes) {
      const at::Tensor tensor = replica.tensorOf(bytes);
      replica.checkSum(tensor, party, replicas);
      auto times = timesOf(*parties[at], limits, [&](int64_t calls) { return replica.seconds(tensor, calls); });
      times.bytes = bytes;
      if (party == 0) series.times.push_back(std::move(times));
    }
    parties[at]->largest(0);  // until here nobody's tensor goes
  });
  return series;
}

}  // namespace

void measureReplicas(const LinkOrder& order, const LinkSink& sink) {
  const auto rows = algorithmsOn(!order.gpus.empty());
  const RepetitionLimits limits = limitsOf(order, rows.size() * order.replicas.size());
  for (const int64_t replicas : order.replicas) {
    const Team team = order.gpus.empty() ? teamOnCores(replicas) : teamOnGpus(order.gpus, replicas);
    for (const AllReduceEntry* row : rows) sink(measure(*row, team, order, limits));
  }
}

}  // namespace tandem
