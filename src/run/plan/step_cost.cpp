#include "run/plan/step_cost.h"

#include "config/device_set.h"

namespace tandem {
namespace {

double bytesOf(const RunPlan& plan) {
  const Config& config = plan.config;
  if (config.step.forwardOnly || plan.activationBytes <= 0) return 0;
  const Precision& precision = *plan.setup.precision;
  const auto size = [](at::ScalarType type) { return static_cast<double>(c10::elementSize(type)); };
  const int values = stateValues(optimizerOptions(config, plan.setup));
  const double kept = size(precision.master) + values * size(at::kFloat);
  const auto parameters = static_cast<double>(plan.parameters), replicas = static_cast<double>(totalReplicas(config));
  const double activations = static_cast<double>(plan.activationBytes) * static_cast<double>(config.step.accumulate);
  constexpr double writtenAndRead = 2;
  return writtenAndRead * (replicas * (activations + parameters * size(precision.wire)) + parameters * kept);
}

}  // namespace

StepWork stepWork(const RunPlan& plan) {
  if (plan.config.step.loaderOnly) return {};
  return {plan.config.step.forwardOnly ? forwardFlops(*plan.graph) : trainingFlops(*plan.graph), bytesOf(plan)};
}

}  // namespace tandem
