#include "engine/used_layout.h"

#include <ATen/Parallel.h>

#include <algorithm>
#include <future>

#include "base/catalog.h"
#include "base/text.h"
#include "device/precision.h"
#include "engine/host_facts.h"
#include "engine/team_options.h"
#include "executor/executor.h"
#include "executor/layout_choice.h"

namespace tandem {
namespace {

bool hasChoice(const RunPlan& plan) {
  const at::Device device = plan.cudaDevices.empty() ? at::kCPU : at::kCUDA;
  const ExecutorEntry& executor = find(executors(), plan.config.executor, "--executor");
  const auto another = [&](const LayoutEntry& layout) { return layout.blocked && serves(executor, layout, device); };
  return !plan.config.deterministic && std::ranges::any_of(layouts(), another);
}

LayoutChoice measuredOn(const Device& device, const RunPlan& plan, const Graph& graph) {
  device.bind();
  const std::string cpu = cpuModel(textOf("/proc/cpuinfo"));
  const LayoutTrial trial{.compute = find(precisions(), plan.config.precision, "--precision").compute,
                          .images = plan.replicaBatch,
                          .machine = concat(cpu, ", ", at::get_num_threads(), " threads")};
  const auto folder = cacheFolder();
  MeasuredCache cache(folder.empty() ? folder : folder / "measured.tsv");
  return fastestLayout(graph, trial, cache);
}

}  // namespace

UsedLayout usedLayout(const RunPlan& plan, const Graph& graph) {
  if (plan.config.layout != "auto") return {&find(layouts(), plan.config.layout, "--layout"), ""};
  if (!hasChoice(plan)) return {&layouts().front(), ""};
  const Device device = devicesOf(plan).front();
  const auto choice = std::async(std::launch::async, measuredOn, device, std::cref(plan), std::cref(graph)).get();
  std::string note;
  if (choice.gain > 1) {
    note = concat("--layout=auto took ", choice.layout->name, ": the convolutions alone run ", fixed(choice.gain, 2),
                  " times as fast as in nhwc (measured ", choice.fromCache ? "before, kept in the cache" : "now", ")");
  }
  return {choice.layout, note};
}

}  // namespace tandem
