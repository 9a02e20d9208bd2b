#include "run/plan/select_kernels.h"

#include <ATen/Context.h>
#include <torch/headeronly/version.h>

#include <algorithm>
#include <functional>
#include <future>
#include <memory>

#include "base/text.h"
#include "comm/world.h"
#include "device/call_timer.h"
#include "device/device_thread_pool.h"
#include "executor/executor.h"
#include "executor/select/channel_padding.h"
#include "executor/select/cpu_kernels.h"
#include "executor/select/gpu_kernels.h"
#include "graph/operation.h"
#include "kernels/simd/isa_dispatch.h"
#include "machine/cpu/host_facts.h"
#include "machine/gpu/gpu_facts.h"
#include "machine/process/utc_time.h"
#include "run/plan/cuda_graph_policy.h"
#include "run/plan/disturbance_watch.h"
#include "run/plan/kernel_cores.h"
#include "run/plan/kernel_notes.h"
#include "run/plan/kernel_selection_json.h"
#include "run/plan/replica_set_options.h"

namespace tandem {
namespace {

/// The candidates of an option: the row that it names, or for "auto" (null) all rows that `serves` accepts.
template <class Entry, class Serves>
std::vector<const Entry*> candidates(std::span<const Entry> all, const Entry* named, const Serves& serves) {
  if (named != nullptr) return {named};
  std::vector<const Entry*> found;
  for (const Entry& entry : all) {
    if (serves(entry)) found.push_back(&entry);
  }
  return found;
}

constexpr int64_t planWorkspaceBytes = int64_t{1} << 30;  // GPUs have tens of GiB, and some fast plans want much
constexpr double marginInGraphs = 1.01;                   // a graph's times, taken by events, spread by less
// Of keys: what is timed. Another word where a candidate's call or Tandem's kernels change.
constexpr std::string_view timedMethod = "gradients in place";

/// Seconds that a run saves by a choice: of --steps steps, or else of as many as fit --budget.
double savedSeconds(const Config::Measurement& measurement, const StepSeconds& step) {
  const double saved = step.byDefault - step.chosen;
  if (measurement.steps > 0) return static_cast<double>(measurement.steps) * saved;
  return step.chosen > 0 ? measurement.budget * saved / step.chosen : 0;
}

MeasuringRule measuringRule(const RunPlan& plan, const KernelProgress& progress) {
  const Config::Measurement& measurement = plan.config.measurement;
  return {.at = exactUtcTime(),
          .since = plan.sweepBegin,
          .anew = measurement.refreshKernels,
          .freeSeconds = measurement.kernelSeconds,
          .saves = [measurement](const StepSeconds& step) { return savedSeconds(measurement, step); },
          .progress = progress};
}

CpuKernelTrial trialOf(const RunPlan& plan) {
  const Config& config = plan.config;
  const Setup& setup = plan.setup;
  const auto layoutServes = [&](const LayoutEntry& layout) {
    if (config.numerics.deterministic) return &layout == &layouts().front();
    return choosesKernels(*setup.executor, layout, at::kCPU, setup.precision->compute);
  };
  const auto algorithmServes = [&](const ConvolutionAlgorithm& algorithm) {
    return !config.numerics.deterministic || &algorithm == &convolutionAlgorithms().front();
  };
  CpuKernelTrial trial;
  trial.compute = setup.precision->compute;
  trial.images = plan.replicaBatch / config.step.accumulate;
  if (setup.convolution == nullptr) trial.accuracy = config.numerics.accuracy;
  trial.layouts = candidates(layouts(), setup.layout, layoutServes);
  trial.algorithms = candidates(convolutionAlgorithms(), setup.convolution, algorithmServes);
  return trial;
}

struct CpuChoice {
  CpuKernelChoice choice;
  int64_t replicas;  ///< that it was made for
};

CpuChoice cpuKernelsOn(const RunPlan& plan, const Graph& graph, const KernelProgress& progress) {
  const KernelCores cores = kernelCores(plan);
  DeviceThreads threads(cores.devices);
  CpuKernelTrial trial = trialOf(plan);
  trial.threads = cores.threads;
  const std::string vectors = usedIsa() == widestIsa() ? "" : concat(", vectors ", nameOf(usedIsa()));
  trial.machine = concat(cpuKind(cpuInfo()), vectors, ", ", threads.count(), " x ", trial.threads, " threads");
  trial.measuring = measuringRule(plan, progress);
  trial.measuring.disturbances = [watch = std::make_shared<DisturbanceWatch>(cores.cpus)] { return watch->take(); };
  TimingCache cache(timingCacheFile());
  return {fastestCpuKernels(graph, trial, threads, cache), static_cast<int64_t>(threads.count())};
}

/// What `choose` returns for the first replica's device. A thread of its own measures, because bind() changes the
/// calling thread's current GPU and stream.
template <class Choose>
auto onFirstDevice(const RunPlan& plan, const Choose& choose) {
  const Device device = devicesOf(plan).front();
  return std::async(std::launch::async,
                    [&] {
                      device.bind();
                      auto choice = choose(device);
                      device.forgetMemory();  // of graphs too, which the choice no longer holds
                      return choice;
                    })
      .get();
}

/// Cache key of the first GPU: everything that times depend on except the operation.
std::string gpuMachine(const RunPlan& plan) {
  const auto& [gpu, driverVersion] =
      std::pair(cudaFacts().gpus.at(static_cast<size_t>(plan.cudaDevices.front())), cudaFacts().driverVersion);
  return concat(gpu.name, ", compute capability ", capabilityText(gpu.capability), ", driver of CUDA ",
                driverVersion / 1000, '.', driverVersion % 1000 / 10, ", ", cudnnVersions(), ", libtorch ",
                TORCH_VERSION);
}

/// `device`: the first replica's; it must outlive the result. Its times are those of calls as the step makes them.
GpuKernelTrial gpuKernelTrial(const Device& device, const RunPlan& plan, const KernelProgress& progress) {
  GpuKernelTrial trial;
  trial.compute = plan.setup.precision->compute;
  trial.images = plan.replicaBatch / plan.config.step.accumulate;
  trial.device = device.torch();
  trial.forwardOnly = plan.config.step.forwardOnly;
  const auto timer = std::make_shared<CallTimer>(device, graphRecorder(plan.config, plan.setup));
  trial.rule.where = concat(gpuMachine(plan), ", ", timer->way(), ", ", timedMethod);
  trial.rule.workspaceBytes = planWorkspaceBytes;
  if (graphRecorder(plan.config, plan.setup)) trial.rule.margin = marginInGraphs;
  trial.rule.measuring = measuringRule(plan, progress);
  trial.rule.secondsOf = [timer](const std::function<void()>& call) { return timer->secondsOf(call); };
  if (plan.config.numerics.recompute != Config().numerics.recompute)
    trial.norms = {};  // recomputation needs the same bits again, which cuDNN's plans do not guarantee
  return trial;
}

GpuKernelChoice gpuKernelsOn(const Device& device, const RunPlan& plan, const Graph& graph, int64_t zeros,
                             const KernelProgress& progress) {
  GpuKernelTrial trial = gpuKernelTrial(device, plan, progress);
  trial.zeroChannels = zeros;
  TimingCache cache(timingCacheFile());
  return fastestGpuKernels(graph, trial, cache);
}

bool choosesGpuKernels(const RunPlan& plan) {
  const Setup& setup = plan.setup;
  return !setup.onCpu() && setup.executor->choosesKernels &&
         setup.firstLayout().format == at::MemoryFormat::ChannelsLast && setup.convolution == nullptr &&
         !plan.config.numerics.deterministic && !cudnnVersions().empty();
}

/// Layout and algorithms for images with `zeros` zero channels.
KernelSelection convolutionsOf(const RunPlan& plan, const Graph& graph, int64_t zeros, const KernelProgress& progress) {
  const Setup& setup = plan.setup;
  const LayoutEntry& layout = setup.firstLayout();
  KernelSelection kernels{.layout = layout};
  if (choosesGpuKernels(plan)) {
    const GpuKernelChoice choice =
        onFirstDevice(plan, [&](const Device& device) { return gpuKernelsOn(device, plan, graph, zeros, progress); });
    kernels.engines = choice.engines, kernels.norms = choice.norms;
    kernels.notes = choice.notes;
    addKernelNotes(kernels, graph, {.gain = choice.gain, .measured = &choice.measured});
  } else if (choosesKernels(*setup.executor, layout, setup.device, setup.precision->compute)) {
    const auto [choice, replicas] = cpuKernelsOn(plan, graph, progress);
    kernels.layout = *choice.layout, kernels.algorithms = choice.algorithms;
    addKernelNotes(kernels, graph,
                   {.gain = choice.gain,
                    .measured = &choice.measured,
                    .replicas = replicas,
                    .threads = plan.cores.threadsPerReplica});
  } else if (choosesKernels(*setup.executor, layout, setup.device)) {
    kernels.notes.push_back(concat("convolutions are ATen's: Tandem's own take no ", plan.config.numerics.precision));
  }
  return kernels;
}

PaddingChoice paddingOn(const Device& device, const RunPlan& plan, const Graph& graph, const KernelProgress& progress) {
  TimingCache cache(timingCacheFile());
  const GpuKernelTrial engines = gpuKernelTrial(device, plan, progress);
  PaddingTrial trial{.precision = plan.setup.precision,
                     .layout = plan.setup.firstLayout(),
                     .images = engines.images,
                     .device = engines.device,
                     .machine = engines.rule.where,
                     .secondsOf = engines.rule.secondsOf,
                     .measuring = engines.rule.measuring};
  if (choosesGpuKernels(plan)) {
    trial.engines = [&](const Graph& stem, int64_t images, int64_t zeros) {
      GpuKernelTrial own = engines;
      own.images = images, own.zeroChannels = zeros;
      own.forwardOnly = false;  // paddings are compared in training steps
      return fastestGpuKernels(stem, own, cache).engines;
    };
  }
  return fastestImagePadding(graph, trial, cache);
}

struct UsedPadding {
  int64_t zeroChannels = 0;
  std::string note = {};
};

UsedPadding paddingOf(const RunPlan& plan, const Graph& graph, const KernelProgress& progress) {
  if (plan.setup.padding != nullptr) return {zeroChannels(graph, *plan.setup.padding)};
  if (plan.setup.onCpu() || !plan.setup.executor->planned || plan.config.numerics.deterministic) return {};
  const PaddingChoice choice =
      onFirstDevice(plan, [&](const Device& device) { return paddingOn(device, plan, graph, progress); });
  const int64_t zeros = zeroChannels(graph, *choice.padding);
  if (zeros == 0) return {};
  return {zeros,
          concat("images have ", zeros, " channels of zeros, with which what reads them runs ", fixed(choice.gain, 2),
                 " times as fast (measured ", choice.fromCache ? "before, kept in the cache" : "now", ")")};
}

std::string wideningOf(const KernelSelection& kernels, const Precision& precision) {
  const bool widens = !kernels.algorithms.empty() && precision.compute == at::kBFloat16 && convolutionsWidenBf16();
  return widens ? "direct convolutions and linear layers compute in fp32: this processor has no products of bf16" : "";
}

/// Process-wide flags that restrict which kernels libraries choose; set before anything is measured.
void setNumerics(const RunPlan& plan) {
  const Config& config = plan.config;
  at::globalContext().setDeterministicAlgorithms(config.numerics.deterministic, /*warn_only=*/false);
  at::globalContext().setBenchmarkCuDNN(!config.numerics.deterministic);
  at::globalContext().setDeterministicCuDNN(config.numerics.deterministic);
  allowTf32(plan.setup.precision->tf32);
}

KernelSelection selectedHere(const RunPlan& plan, const Graph& graph, const KernelProgress& progress) {
  if (plan.config.step.loaderOnly) {
    return {.layout = plan.setup.firstLayout(),
            .zeroChannels = plan.setup.padding == nullptr ? 0 : zeroChannels(graph, *plan.setup.padding)};
  }
  const UsedPadding padding = paddingOf(plan, graph, progress);
  KernelSelection kernels = convolutionsOf(plan, graph, padding.zeroChannels, progress);
  kernels.zeroChannels = padding.zeroChannels;
  kernels.notes.push_back(padding.note);
  kernels.notes.push_back(wideningOf(kernels, *plan.setup.precision));
  std::erase(kernels.notes, "");
  return kernels;
}

}  // namespace

KernelSelection selectKernels(const RunPlan& plan, const Graph& graph, const KernelProgress& progress) {
  setNumerics(plan);
  if (!plan.kernels.empty()) return kernelSelectionFromText(plan.kernels);
  if (plan.world == nullptr) return selectedHere(plan, graph, progress);
  if (plan.place.rank != 0) return kernelSelectionFromText(plan.world->fromFirst("", deadlineSeconds(plan.config)));
  const KernelSelection kernels = selectedHere(plan, graph, progress);
  plan.world->fromFirst(toText(kernels));
  return kernels;
}

}  // namespace tandem
