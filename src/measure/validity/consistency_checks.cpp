#include "measure/validity/consistency_checks.h"

#include <algorithm>
#include <array>
#include <map>
#include <utility>

#include "base/text.h"
#include "config/device_set.h"
#include "config/modes.h"

namespace tandem {
namespace {

constexpr std::array<std::string_view, 2> injectors{"LD_AUDIT", "LD_PRELOAD"};
constexpr double clockTolerance = 1.001;  // of the window: thread clocks are read one after the other
constexpr size_t fewestLosses = 3;
constexpr std::string_view syntheticData = "synthetic";

std::string samples(const RunRecord& record) {
  const auto expected = record.measuredSteps * totalReplicas(record.config);
  const auto found = static_cast<int64_t>(record.steps.size());
  const bool otherProgram = record.config.measurement.program != Config().measurement.program;
  if (found == expected || (found == 0 && otherProgram)) return "";
  return concat(found, " samples of ", record.measuredSteps, " steps and ", totalReplicas(record.config), " replicas");
}

std::string batch(const RunRecord& record) {
  const Config& config = record.config;
  const int64_t stated =
      batchIsGlobal(config.measurement.scaling) ? config.step.batch : config.step.batch * totalReplicas(config);
  if (config.step.batch == 0 || record.globalBatch == stated) return "";
  return concat("a global batch of ", record.globalBatch, ", although --batch=", config.step.batch, " and ",
                totalReplicas(config), " replicas make ", stated);
}

/// A window shorter than its steps: nobody waited for the device, or the window was cut.
std::string window(const RunRecord& record) {
  std::map<int, double> busy;
  for (const StepSample& step : record.steps) busy[step.replica] += seconds(step.wall);
  for (const auto& [replica, time] : busy) {
    if (time > clockTolerance * seconds(record.window)) {
      return concat("the steps of replica ", replica, " last ", secondsText(time), ", the window ",
                    secondsText(seconds(record.window)));
    }
  }
  return "";
}

/// Steps whose losses a record has.
int64_t stepsWithLosses(const RunRecord& record) {
  if (!record.training) return record.warmup.steps + record.measuredSteps;
  const int64_t made = record.training->steps - std::max<int64_t>(0, record.training->resumedAt);
  return std::min(made, TrainingRecord::mostLosses);
}

std::string losses(const RunRecord& record) {
  const int64_t steps = stepsWithLosses(record);
  const auto found = static_cast<int64_t>(record.losses.size());
  if (found == 0 || found == steps) return "";
  return concat(found, " losses of ", steps, " steps");
}

std::string training(const RunRecord& record) {
  if (record.config.step.forwardOnly || record.losses.size() < fewestLosses || record.losses.front() == 0) return "";
  const bool moved = std::ranges::any_of(record.losses, [&](double loss) { return loss != record.losses.front(); });
  return moved ? "" : concat("the loss is ", record.losses.front(), " at every step: nothing was trained");
}

std::string images(const RunRecord& record) {
  const std::string& found = record.placement.data;
  const bool ofData =
      found != syntheticData && found != record.config.input.source;  // a stream is called as its source
  if (found.empty() || ofData != record.config.input.data.empty()) return "";
  return concat("the images were of ", found, ", although ",
                record.config.input.data.empty() ? "no --data was given" : "--data=" + record.config.input.data);
}

std::string augmentation(const RunRecord& record) {
  const std::string& found = record.placement.augment;
  if (record.placement.data.empty() || record.config.input.data.empty() || found == record.config.input.augment)
    return "";
  return concat("the images were changed by ", found.empty() ? "nothing" : found,
                ", although --augment=", record.config.input.augment);
}

/// A training step computes each layer forward, the gradient of its parameters, and, except at the first layer, of its
/// input.
std::string work(const RunRecord& record) {
  const double forward = record.placement.forwardFlopsPerImage, found = record.placement.flopsPerImage;
  if (!(found > 0) || !(forward > 0)) return "";
  const auto [least, most] = record.config.step.forwardOnly ? std::pair(1, 1) : std::pair(2, 3);
  if (found >= least * forward && found <= most * forward) return "";
  return concat(fixed(found / 1e9, 3), " GFLOP per image, forward alone ", fixed(forward / 1e9, 3), ": a step of ",
                record.config.step.forwardOnly ? "--forward-only does as many" : "training does 2 to 3 times as many");
}

std::string injected(const RunRecord& record) {
  for (const auto& [name, value] : record.environment.variables) {
    if (value.empty() || std::ranges::find(injectors, name) == injectors.end()) continue;
    return concat(name, '=', value, " puts other code before the program's; measure without it");
  }
  return "";
}

std::string faults(const RunRecord& record) {
  const std::string& fault = record.config.measurement.inject;
  return fault.empty() ? "" : concat("--inject=", fault, " put a fault into the run");
}

std::string checks(const RunRecord& record) {
  const auto& exchange = record.config.exchange;
  if (exchange.checkCollectives) return "--check-collectives compares each collective before it runs, which takes time";
  if (exchange.checkDrift == 0) return "";
  return concat("--check-drift=", exchange.checkDrift, " compares weights within the measured time");
}

constexpr std::array table{
    ConsistencyCheck{"samples missing", samples},         ConsistencyCheck{"other batch", batch},
    ConsistencyCheck{"window too short", window},         ConsistencyCheck{"losses missing", losses},
    ConsistencyCheck{"nothing trained", training},        ConsistencyCheck{"other images", images},
    ConsistencyCheck{"other augmentation", augmentation}, ConsistencyCheck{"other work", work},
    ConsistencyCheck{"injected code", injected},          ConsistencyCheck{"injected fault", faults},
    ConsistencyCheck{"checked as it ran", checks}};

}  // namespace

std::span<const ConsistencyCheck> consistencyChecks() { return table; }

std::vector<std::string> doubts(const RunRecord& record) {
  std::vector<std::string> found;
  if (record.outcome.kind != OutcomeKind::ok) return found;
  for (const ConsistencyCheck& row : consistencyChecks()) {
    const std::string text = row.of(record);
    if (!text.empty()) found.push_back(concat(row.name, ": ", text));
  }
  return found;
}

bool isQuotable(const RunRecord& record) { return record.valid() && doubts(record).empty(); }

bool isAccepted(const RunRecord& record) { return isQuotable(record) || record.config.measurement.allowInterference; }

std::string whyNotQuotable(const RunRecord& record) {
  auto reasons = record.interference.reasons;
  std::ranges::move(doubts(record), std::back_inserter(reasons));
  return join(reasons, "; ");
}

}  // namespace tandem
