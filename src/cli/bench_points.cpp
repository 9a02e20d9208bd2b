#include "cli/bench_points.h"

#include <algorithm>

#include "base/error.h"
#include "base/text.h"

namespace tandem {
namespace {

constexpr double defaultMeasuringSeconds = 100, shortestBudget = 5;
constexpr int64_t defaultBatch = 4;

bool given(const Sweep& sweep, std::string_view name) {
  return std::ranges::find(sweep.given, name) != sweep.given.end();
}

std::vector<std::string> powersOfTwo(int64_t last) {
  std::vector<std::string> values;
  for (int64_t value = 1; value <= std::max<int64_t>(1, last); value *= 2) values.push_back(concat(value));
  return values;
}

std::string labelOf(const Config& config, const std::vector<Axis>& axes) {
  std::vector<std::string> parts;
  for (const auto& axis : axes) parts.push_back(concat(axis.option->name, '=', valueText(config, *axis.option)));
  return parts.empty() ? config.model : join(parts, " ");
}

BenchPoint resolvePoint(const Config& config, const std::vector<Axis>& axes, int64_t largest) {
  BenchPoint point{.config = config, .label = labelOf(config, axes), .plan = {}, .refusal = {}};
  try {
    point.plan = resolvePlan(config, largest);
    point.plan->data.reset();  // each point's process opens its own
  } catch (const UsageError& refusal) {
    point.refusal = refusal.what();
  }
  return point;
}

}  // namespace

void addDefaultAxes(Sweep& sweep, int64_t usableCores) {
  if (sweep.base.compare) {
    if (!given(sweep, "budget")) sweep.base.budget = shortestBudget;
    return;
  }
  if (given(sweep, "replicas") || given(sweep, "strategy") || given(sweep, "devices")) return;
  const auto replicas = powersOfTwo(usableCores);
  const std::vector<std::string> strategies{"replicated", "parameter_server"};
  sweep.axes.push_back({findOption("strategy"), strategies});
  if (replicas.size() > 1) sweep.axes.push_back({findOption("replicas"), replicas});
  const auto points = static_cast<double>(replicas.size() * strategies.size());
  if (!given(sweep, "budget")) sweep.base.budget = std::max(shortestBudget, defaultMeasuringSeconds / points);
  if (!given(sweep, "batch") && !given(sweep, "model")) sweep.base.batch = defaultBatch;
}

int64_t largestReplicas(const std::vector<Config>& configs) {
  int64_t largest = 1;
  for (const auto& config : configs) {
    if (config.devices == "cpu") largest = std::max(largest, config.replicas);
  }
  return largest;
}

std::vector<BenchPoint> resolvePoints(const Sweep& sweep, const std::vector<Config>& configs) {
  const int64_t largest = largestReplicas(configs);
  std::vector<BenchPoint> points;
  for (const auto& config : configs) points.push_back(resolvePoint(config, sweep.axes, largest));
  const auto possible = [](const BenchPoint& point) { return point.plan.has_value(); };
  if (std::ranges::none_of(points, possible)) throw UsageError(points.front().refusal);
  return points;
}

}  // namespace tandem
