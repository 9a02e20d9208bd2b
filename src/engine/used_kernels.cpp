#include "engine/used_kernels.h"

#include <ATen/Parallel.h>

#include <algorithm>
#include <future>

#include "base/catalog.h"
#include "base/text.h"
#include "device/gpu_facts.h"
#include "engine/host_facts.h"
#include "engine/team_options.h"
#include "executor/executor.h"
#include "executor/image_padding.h"
#include "executor/kernel_choice.h"
#include "graph/operation.h"

namespace tandem {
namespace {

/// The candidates of an option: the one it names, or for "auto" all that `serves` lets through.
template <class Entry, class Serves>
std::vector<const Entry*> candidates(std::span<const Entry> all, const std::string& name, std::string_view option,
                                     const Serves& serves) {
  if (name != "auto") return {&find(all, name, option)};
  std::vector<const Entry*> found;
  for (const Entry& entry : all) {
    if (serves(entry)) found.push_back(&entry);
  }
  return found;
}

KernelTrial trialOf(const RunPlan& plan) {
  const Config& config = plan.config;
  const ExecutorEntry& executor = find(executors(), config.executor, "--executor");
  const auto layoutServes = [&](const LayoutEntry& layout) {
    if (config.deterministic) return &layout == &layouts().front();
    return choosesKernels(executor, layout, at::kCPU, precisionOf(config).compute);
  };
  const auto algorithmServes = [&](const ConvolutionAlgorithm& algorithm) {
    return !config.deterministic || &algorithm == &convolutionAlgorithms().front();
  };
  KernelTrial trial;
  trial.compute = precisionOf(config).compute;
  trial.images = plan.replicaBatch / config.accumulate;
  trial.layouts = candidates(layouts(), config.layout, "--layout", layoutServes);
  trial.algorithms = candidates(convolutionAlgorithms(), config.convolution, "--convolution", algorithmServes);
  return trial;
}

KernelChoice measuredOn(const Device& device, KernelTrial trial, const Graph& graph) {
  device.bind();
  const std::string cpu = cpuModel(textOf("/proc/cpuinfo"));
  trial.machine = concat(cpu, ", ", at::get_num_threads(), " threads");
  MeasuredCache cache(measuredFile());
  return fastestKernels(graph, trial, cache);
}

std::string noteOf(const KernelChoice& choice, const Graph& graph) {
  std::vector<std::string> passes;
  for (const auto& [name, count] : passesOf(choice.algorithms, graph)) passes.push_back(concat(count, ' ', name));
  return concat("convolutions run in ", choice.layout->name, ", their passes by ", join(passes), ": ",
                fixed(choice.gain, 2), " times as fast as the first of each alone (measured ",
                choice.fromCache ? "before, kept in the cache" : "now", ")");
}

/// Layout and algorithms.
UsedKernels convolutionsOf(const RunPlan& plan, const Graph& graph) {
  const ExecutorEntry& executor = find(executors(), plan.config.executor, "--executor");
  const LayoutEntry& layout = layoutOf(plan.config);
  const at::DeviceType type = plan.cudaDevices.empty() ? at::kCPU : at::kCUDA;
  if (!choosesKernels(executor, layout, type, precisionOf(plan.config).compute)) {
    const bool ofAnother = choosesKernels(executor, layout, type);
    return {
        &layout, {}, ofAnother ? concat("convolutions are ATen's: Tandem's own take no ", plan.config.precision) : ""};
  }
  const Device device = devicesOf(plan).front();
  auto choice = std::async(std::launch::async, measuredOn, device, trialOf(plan), std::cref(graph)).get();
  std::string note = choice.gain > 1 ? noteOf(choice, graph) : "";
  return {choice.layout, std::move(choice.algorithms), std::move(note)};
}

PaddingChoice paddingOnGpu(const RunPlan& plan, const Graph& graph, const LayoutEntry& layout) {
  const Device device = devicesOf(plan).front();
  const auto measure = [&] {
    device.bind();
    allowTf32(precisionOf(plan.config).tf32);
    MeasuredCache cache(measuredFile());
    std::string machine = device.label();
    for (const auto& [library, version] : gpuLibraries()) machine += concat(", ", library, ' ', version);
    const PaddingTrial trial{.precision = &precisionOf(plan.config),
                             .layout = layout,
                             .images = plan.replicaBatch / plan.config.accumulate,
                             .device = &device,
                             .machine = std::move(machine)};
    return fastestImagePadding(graph, trial, cache);
  };
  return std::async(std::launch::async, measure).get();
}

void addPadding(UsedKernels& kernels, const RunPlan& plan, const Graph& graph) {
  const Config& config = plan.config;
  if (config.padImages != "auto") {
    kernels.zeroChannels = zeroChannels(graph, find(imagePaddings(), config.padImages, "--pad-images"));
    return;
  }
  if (plan.cudaDevices.empty() || config.executor != "planned" || config.deterministic) return;
  const PaddingChoice choice = paddingOnGpu(plan, graph, *kernels.layout);
  kernels.zeroChannels = zeroChannels(graph, *choice.padding);
  if (kernels.zeroChannels == 0) return;
  kernels.note += concat(kernels.note.empty() ? "" : "; ", "images have ", kernels.zeroChannels,
                         " channels of zeros, with which what reads them runs ", fixed(choice.gain, 2),
                         " times as fast (measured ", choice.fromCache ? "before, kept in the cache" : "now", ")");
}

}  // namespace

UsedKernels usedKernels(const RunPlan& plan, const Graph& graph) {
  UsedKernels kernels = convolutionsOf(plan, graph);
  addPadding(kernels, plan, graph);
  return kernels;
}

std::map<std::string, int64_t> passesOf(const std::vector<PassAlgorithms>& algorithms, const Graph& graph) {
  std::map<std::string, int64_t> passes;
  for (size_t i = 0; i < algorithms.size(); ++i) {
    const Node& node = graph.nodes()[i];
    if (node.operation->name != "conv") continue;
    for (size_t pass = 0; pass < algorithms[i].size(); ++pass) {
      const bool wanted = pass != 1 || node.inputs.front() != graph.input();
      if (wanted) ++passes[std::string(algorithms[i][pass]->name)];
    }
  }
  return passes;
}

}  // namespace tandem
