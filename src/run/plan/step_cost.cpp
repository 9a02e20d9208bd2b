#include "run/plan/step_cost.h"

#include "base/catalog.h"
#include "run/plan/replica_set_options.h"

namespace tandem {
namespace {

double bytesOf(const RunPlan& plan) {
  const Config& config = plan.config;
  if (config.forwardOnly || plan.activationBytes <= 0) return 0;
  const Precision& precision = precisionOf(config);
  const auto size = [](at::ScalarType type) { return static_cast<double>(c10::elementSize(type)); };
  const OptimizerOptions optimizer = optimizerOptions(config);
  const double kept = size(precision.master) + ruleOf(optimizer).stateValues(optimizer) * size(at::kFloat);
  const auto parameters = static_cast<double>(plan.parameters), replicas = static_cast<double>(config.replicas);
  const double activations = static_cast<double>(plan.activationBytes) * static_cast<double>(config.accumulate);
  constexpr double writtenAndRead = 2;
  return writtenAndRead * (replicas * (activations + parameters * size(precision.wire)) + parameters * kept);
}

}  // namespace

StepWork stepWork(const RunPlan& plan, const Graph& graph) {
  return {plan.config.forwardOnly ? forwardFlops(graph) : trainingFlops(graph), bytesOf(plan)};
}

}  // namespace tandem
