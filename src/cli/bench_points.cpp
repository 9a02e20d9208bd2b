#include "cli/bench_points.h"

#include <algorithm>
#include <array>
#include <bit>
#include <map>
#include <utility>

#include "base/error.h"
#include "base/text.h"
#include "cli/catalogs.h"
#include "config/device_set.h"
#include "device/gpu_support.h"
#include "run/plan/kernel_cores.h"
#include "run/plan/placement.h"

namespace tandem {
namespace {

constexpr double defaultMeasuringSeconds = 100, shortestBudget = 5;
constexpr int64_t defaultBatch = 4;
constexpr std::array optionsOfCores{"cores-per-replica", "oversubscribe"};
constexpr std::array optionsThatChoose{"ranks", "servers", "replicas", "strategy", "devices"};

std::vector<std::string> powersOfTwo(int64_t last) {
  std::vector<std::string> values;
  for (int64_t value = 1; value <= std::max<int64_t>(1, last); value *= 2) values.push_back(concat(value));
  return values;
}

/// Values of --devices: the first 1, 2, 4, ... GPUs, and all of them.
std::vector<std::string> deviceSets(const std::vector<int>& gpus) {
  std::vector<std::string> sets, names;
  for (const int gpu : gpus) {
    names.push_back(concat(gpu));
    if (std::has_single_bit(names.size()) || names.size() == gpus.size())
      sets.push_back(concat("cuda:", join(names, "+")));
  }
  return sets;
}

bool usesCpu(const Sweep& sweep, const BenchPlaces& places) {
  const auto isGiven = [&](const char* option) { return sweep.has(option); };
  return places.gpus.empty() || std::ranges::any_of(optionsOfCores, isGiven);
}

/// Selects points: --overlap=off makes sense only if several replicas all-reduce.
bool overlapsOrHasBuckets(const Config& config) {
  return config.exchange.overlap == Config().exchange.overlap ||
         (setupOf(config).strategy->usesAllReduce && replicaCount(config) > 1);
}

/// The default axes and the points to keep.
Sweep defaultSweep(const Sweep& sweep, const BenchPlaces& places) {
  Sweep defaults;
  const auto add = [&](const char* option, std::vector<std::string> values) {
    defaults.axes.push_back({findOption(option), std::move(values)});
  };
  add("strategy", {"replicated", "parameter_server"});
  if (usesCpu(sweep, places)) {
    add("replicas", powersOfTwo(places.cores));
    return defaults;
  }
  add("devices", deviceSets(places.gpus));
  if (!places.halfPrecision.empty() && !sweep.has("precision")) {
    add("precision", {Config().numerics.precision, places.halfPrecision});
  }
  if (places.gpus.size() > 1 && !sweep.has("overlap") && !sweep.has("forward-only")) {
    add("overlap", {"on", "off"});
    defaults.keeps = overlapsOrHasBuckets;
  }
  return defaults;
}

std::string labelOf(const Config& config, const std::vector<Axis>& axes) {
  std::vector<std::string> parts;
  for (const auto& axis : axes) parts.push_back(concat(axis.option->name, '=', valueText(config, *axis.option)));
  return parts.empty() ? config.network.model : join(parts, " ");
}

/// Gives the replicas of all CPU points equally many cores, so that their rates can be compared.
void divideCores(std::vector<BenchPoint>& points, const RankPlace* place) {
  int64_t largest = 1;
  for (const BenchPoint& point : points) {
    const int64_t ranksHere = place != nullptr ? place->localSize : processCount(point.config);
    if (isOnCpu(point.config)) largest = std::max(largest, ranksHere * devicesOfRank(point.config));
  }
  const int64_t cores = std::max<int64_t>(1, std::ssize(readTopology().cores) / largest);
  for (BenchPoint& point : points) {
    if (isOnCpu(point.config) && point.config.placement.coresPerReplica == 0)
      point.config.placement.coresPerReplica = cores;
  }
}

/// A point on its devices, without its plan.
BenchPoint placedPoint(Config config, const std::vector<Axis>& axes) {
  BenchPoint point;
  point.notes = passOver(config);
  point.config = config;
  try {
    point.config = placed(std::move(config));
  } catch (const UsageError& refusal) {
    point.refusal = refusal.what();
  }
  point.label = labelOf(point.config, axes);
  return point;
}

void resolve(BenchPoint& point, const RankPlace* place) {
  if (!point.refusal.empty()) return;
  try {
    RunPlan plan = resolvePlan(point.config, place);
    checkMemory(plan);
    point.plan = std::move(plan);
  } catch (const UsageError& refusal) {
    point.refusal = refusal.what();
  }
}

/// Points whose replicas have as many threads run the same kernels: those that are the fastest for the most replicas
/// that compute at once. Otherwise a speed-up would compare kernels too.
void shareKernels(std::vector<BenchPoint>& points) {
  std::map<std::pair<int64_t, std::string>, int64_t> most;  // replicas, by threads of one and what a thread runs on
  const auto keyOf = [](const RunPlan& plan) { return std::pair(plan.cores.threadsPerReplica, plan.cores.unit); };
  for (const BenchPoint& point : points) {
    if (!point.plan || !point.plan->setup.onCpu()) continue;
    int64_t& count = most[keyOf(*point.plan)];
    count = std::max(count, kernelReplicas(*point.plan));
  }
  for (BenchPoint& point : points) {
    if (!point.plan || !point.plan->setup.onCpu() || point.config.numerics.kernelReplicas != 0) continue;
    const int64_t count = most[keyOf(*point.plan)];
    if (count == kernelReplicas(*point.plan)) continue;
    point.config.numerics.kernelReplicas = count, point.plan->config.numerics.kernelReplicas = count;
  }
}

}  // namespace

BenchPlaces placesOf(int64_t usableCores, const CudaFacts& cuda) {
  BenchPlaces places{
      .cores = usableCores, .gpus = usableGpus(cuda), .halfPrecision = {}, .withoutGpus = whyWithoutGpus(cuda)};
  std::vector<GpuFacts> usable;
  for (const int gpu : places.gpus) usable.push_back(cuda.gpus.at(static_cast<size_t>(gpu)));
  if (const Precision* half = halfPrecision(usable)) places.halfPrecision = half->name;
  return places;
}

void addDefaultAxes(Sweep& sweep, const BenchPlaces& places) {
  const bool chosen = !sweep.has("devices");
  if (chosen && !places.withoutGpus.empty()) sweep.notes.push_back(concat("measured on the CPU: ", places.withoutGpus));
  if (sweep.base.measurement.compare) {
    if (!sweep.has("budget")) sweep.base.measurement.budget = shortestBudget;
    return;
  }
  const bool ofALauncher = processCount(sweep.base) > 1;
  const auto isGiven = [&](const char* option) { return sweep.has(option); };
  if (ofALauncher || std::ranges::any_of(optionsThatChoose, isGiven)) return;
  Sweep defaults = defaultSweep(sweep, places);
  const auto points = static_cast<double>(expand(defaults, catalogNames()).size());
  sweep.keeps = defaults.keeps;
  for (Axis& axis : defaults.axes) {
    if (axis.values.size() > 1 || axis.values.front() != valueText(sweep.base, *axis.option)) {
      sweep.axes.push_back(std::move(axis));
    }
  }
  if (!sweep.has("budget")) sweep.base.measurement.budget = std::max(shortestBudget, defaultMeasuringSeconds / points);
  if (usesCpu(sweep, places)) sweep.base.placement.devices = "cpu";
  if (usesCpu(sweep, places) && !sweep.has("batch") && !sweep.has("model")) sweep.base.step.batch = defaultBatch;
}

std::vector<BenchPoint> resolvePoints(const Sweep& sweep, const std::vector<Config>& configs, const RankPlace* place) {
  std::vector<BenchPoint> points;
  for (const Config& config : configs) {
    BenchPoint point = placedPoint(config, sweep.axes);
    const auto known = std::ranges::find(points, point.config, &BenchPoint::config);
    if (known == points.end()) {
      points.push_back(std::move(point));
    } else {
      std::ranges::move(point.notes, std::back_inserter(known->notes));
    }
  }
  divideCores(points, place);
  for (BenchPoint& point : points) resolve(point, place);
  shareKernels(points);
  const auto possible = [](const BenchPoint& point) { return point.plan.has_value(); };
  if (std::ranges::none_of(points, possible)) throw UsageError(points.front().refusal);
  return points;
}

}  // namespace tandem
