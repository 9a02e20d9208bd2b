#include "run/plan/cuda_graph_policy.h"

#include <optional>

#include "base/text.h"
#include "config/device_set.h"
#include "train/captured_step.h"

namespace tandem {
namespace {

using Obstacle = std::optional<std::string>;

Obstacle deviceCaptures(const Config&, const Setup& setup) {
  if (!setup.onCpu()) return {};
  return "only GPUs have graphs (--devices=cuda:0)";
}

Obstacle executorEnqueues(const Config&, const Setup& setup) {
  if (setup.executor->capturable) return {};
  return concat("--executor=", setup.executor->name, " cannot be recorded");
}

Obstacle lossStays(const Config&, const Setup& setup) {
  if (!setup.lossPlacement->gathered) return {};
  return concat("with --loss-at=", setup.lossPlacement->name, " replicas wait for one another on the host");
}

Obstacle statisticsStay(const Config& config, const Setup&) {
  if (!config.exchange.syncBatchNorm || totalReplicas(config) == 1) return {};
  return "with --sync-batch-norm the host reads the statistics of all replicas";
}

Obstacle nothingIsComputed(const Config& config, const Setup&) {
  if (!config.step.loaderOnly) return {};
  return "with --loader-only nothing is computed";
}

constexpr Obstacle (*obstaclesInOrder[])(const Config&, const Setup&) = {deviceCaptures, nothingIsComputed,
                                                                         executorEnqueues, lossStays, statisticsStay};

Obstacle firstObstacle(const Config& config, const Setup& setup) {
  for (const auto obstacle : obstaclesInOrder) {
    if (auto found = obstacle(config, setup)) return found;
  }
  return {};
}

/// Why the host must act between or after the captured parts of a step; empty: it need not.
std::string whyInParts(const Config& config, const Setup& setup) {
  if (config.step.forwardOnly) return "";
  if (setup.strategy->enqueuesOnly(setup.allReduce, replicaCount(config))) return "";
  const auto how = setup.strategy->usesAllReduce ? concat("--all-reduce=", setup.allReduce.optionValue())
                                                 : concat("--strategy=", setup.strategy->name);
  return concat("with ", how, " replicas wait for one another on the host");
}

}  // namespace

CudaGraphPolicy cudaGraphPolicy(const Config& config, const Setup& setup) {
  if (!setup.cudaGraph->wanted) return {false, concat("--cuda-graph=", setup.cudaGraph->name)};
  if (const Obstacle obstacle = firstObstacle(config, setup)) return {false, *obstacle};
  return {true, whyInParts(config, setup)};
}

GraphRecorder graphRecorder(const Config& config, const Setup& setup) {
  return cudaGraphPolicy(config, setup).on ? makeCapturedGraph : GraphRecorder();
}

std::string cudaGraphText(const Config& config, const Setup& setup) {
  if (setup.onCpu()) return "";
  const CudaGraphPolicy policy = cudaGraphPolicy(config, setup);
  if (!policy.on) return concat("off: ", policy.why);
  if (policy.why.empty()) return "on";
  return concat(setup.overlap->duringBackward ? "on, in parts: " : "on, up to the exchange: ", policy.why);
}

int64_t fewestWarmup(const Config& config, const Setup& setup) {
  return config.measurement.profile && cudaGraphPolicy(config, setup).on ? CapturedStep::eagerSteps + 1 : 0;
}

}  // namespace tandem
