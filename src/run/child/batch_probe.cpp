#include "run/child/batch_probe.h"

#include <algorithm>

#include "base/error.h"
#include "base/text.h"
#include "config/modes.h"
#include "run/outcome_of_exception.h"
#include "train/captured_step.h"

namespace tandem {
namespace {

// The first step allocates everything. Later steps show that memory does not grow. A CUDA graph is captured after the
// eager steps and launched, because it has memory of its own.
constexpr int64_t stepsOfProbe = CapturedStep::eagerSteps + 2;

Config probeOf(Config config, int64_t batch) {
  config.step.batch = batch;
  config.measurement.warmup = concat(0);
  config.measurement.steps = stepsOfProbe;
  config.measurement.verify = withoutVerification().name;
  config.output.trace.clear();
  config.output.saveWeights.clear();
  return config;
}

BatchTrial trialOf(const RunRecord& record) {
  BatchTrial trial{record.outcome, std::max(record.peakMemoryBytes, record.peakReservedBytes)};
  trial.outcome.reason = withoutAdvice(trial.outcome.reason);
  return trial;
}

}  // namespace

FoundBatch findBatch(const PointRunner& runner, const RunPlan& plan, const TryingCallback& trying) {
  check(plan.search.has_value(), "findBatch: --batch is max");
  const PointOptions options{.deadlineSeconds = deadlineSeconds(plan.config),
                             .memoryLimit = plan.setup.onCpu() ? memoryToUse(plan.availableBytes) : 0};
  FoundBatch found = searchBatch(*plan.search, [&](int64_t batch) {
    trying(batch, Progress());
    const auto progress = [&](const Progress& state) { trying(batch, state); };
    return trialOf(runner.run(probeOf(plan.config, batch), options, {.progress = progress}));
  });
  found.search.availableBytes = plan.availableBytes;
  found.search.limitBytes = options.memoryLimit;
  return found;
}

}  // namespace tandem
