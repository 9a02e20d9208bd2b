#include "measure/guards.h"

#include <algorithm>
#include <array>
#include <map>

#include "base/text.h"

namespace tandem {
namespace {

constexpr std::array<std::string_view, 2> injectors{"LD_AUDIT", "LD_PRELOAD"};
constexpr double clockTolerance = 1.001;  // of the window: the clocks of threads are read one after the other
constexpr size_t fewestLosses = 3;

std::string samples(const RunRecord& record) {
  const auto expected = record.measuredSteps * record.config.replicas;
  const auto found = static_cast<int64_t>(record.steps.size());
  if (found == expected) return "";
  return concat(found, " samples of ", record.measuredSteps, " steps and ", record.config.replicas, " replicas");
}

std::string batch(const RunRecord& record) {
  const Config& config = record.config;
  const int64_t stated = config.scaling == "strong" ? config.batch : config.batch * config.replicas;
  if (config.batch == 0 || record.globalBatch == stated) return "";
  return concat("a global batch of ", record.globalBatch, ", although --batch=", config.batch, " and ", config.replicas,
                " replicas make ", stated);
}

/// A window that ends before its steps: nobody waited for the device, or it was cut.
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

std::string losses(const RunRecord& record) {
  const auto steps = record.warmup.steps + record.measuredSteps;
  const auto found = static_cast<int64_t>(record.losses.size());
  if (found == 0 || found == steps) return "";
  return concat(found, " losses of ", steps, " steps");
}

std::string training(const RunRecord& record) {
  if (record.config.forwardOnly || record.losses.size() < fewestLosses || record.losses.front() == 0) return "";
  const bool moved = std::ranges::any_of(record.losses, [&](double loss) { return loss != record.losses.front(); });
  return moved ? "" : concat("the loss is ", record.losses.front(), " at every step: nothing was trained");
}

std::string injected(const RunRecord& record) {
  for (const auto& [name, value] : record.environment.variables) {
    if (value.empty() || std::ranges::find(injectors, name) == injectors.end()) continue;
    return concat(name, '=', value, " puts other code before the program's; measure without it");
  }
  return "";
}

constexpr std::array table{Guard{"samples missing", samples},  Guard{"other batch", batch},
                           Guard{"window too short", window},  Guard{"losses missing", losses},
                           Guard{"nothing trained", training}, Guard{"injected code", injected}};

}  // namespace

std::span<const Guard> guards() { return table; }

std::vector<std::string> doubts(const RunRecord& record) {
  std::vector<std::string> found;
  if (record.outcome.kind != OutcomeKind::ok) return found;
  for (const Guard& guard : guards()) {
    const std::string text = guard.of(record);
    if (!text.empty()) found.push_back(concat(guard.name, ": ", text));
  }
  return found;
}

bool isQuotable(const RunRecord& record) { return record.valid() && doubts(record).empty(); }

}  // namespace tandem
