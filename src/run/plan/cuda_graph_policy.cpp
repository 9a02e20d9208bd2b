#include "run/plan/cuda_graph_policy.h"

#include <optional>

#include "base/catalog.h"
#include "base/error.h"
#include "base/text.h"
#include "comm/group.h"
#include "run/plan/plan.h"
#include "strategy/strategy.h"
#include "train/captured_step.h"

namespace tandem {
namespace {

using Obstacle = std::optional<std::string>;

Obstacle deviceRuns(const Config& config) {
  if (config.devices != "cpu") return {};
  return "only GPUs have graphs (--devices=cuda:0)";
}

Obstacle executorEnqueues(const Config& config) {
  if (config.executor == "planned") return {};
  return concat("--executor=", config.executor, " cannot be recorded");
}

Obstacle lossStays(const Config& config) {
  if (config.lossAt == "replica") return {};
  return concat("with --loss-at=", config.lossAt, " replicas wait for one another on the host");
}

constexpr Obstacle (*obstaclesInOrder[])(const Config&) = {deviceRuns, executorEnqueues, lossStays};

Obstacle firstObstacle(const Config& config) {
  for (const auto obstacle : obstaclesInOrder) {
    if (auto found = obstacle(config)) return found;
  }
  return {};
}

/// Why the host acts between parts of the step, or behind its one part; empty: it does not.
std::string whyInParts(const Config& config) {
  if (config.forwardOnly) return "";
  const AllReduceEntry& allReduce = find(allReduces(), allReduceOf(config), "--all-reduce");
  if (find(strategies(), config.strategy, "--strategy").enqueuesOnly(allReduce, config.replicas)) return "";
  const auto how = config.strategy == "replicated" ? concat("--all-reduce=", allReduce.name)
                                                   : concat("--strategy=", config.strategy);
  return concat("with ", how, " replicas wait for one another on the host");
}

}  // namespace

CudaGraphPolicy cudaGraphPolicy(const Config& config) {
  if (config.graph == "off") return {false, "--graph=off"};
  const Obstacle obstacle = firstObstacle(config);
  if (!obstacle) return {true, whyInParts(config)};
  if (config.graph == "on") {
    throw UsageError(
        concat("--graph=on: ", *obstacle, ", and a step must be the same work each time; use --graph=auto"));
  }
  return {false, *obstacle};
}

std::string cudaGraphText(const Config& config) {
  if (config.devices == "cpu") return "";
  const CudaGraphPolicy use = cudaGraphPolicy(config);
  if (!use.on) return concat("off: ", use.why);
  if (use.why.empty()) return "on";
  return concat(config.overlap == "off" ? "on, up to the exchange: " : "on, in parts: ", use.why);
}

int64_t fewestWarmup(const Config& config) {
  return config.profile && cudaGraphPolicy(config).on ? CapturedStep::eagerSteps + 1 : 0;
}

}  // namespace tandem
