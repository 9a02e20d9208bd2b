#include "run/run_point.h"

#include <ATen/Context.h>

#include <algorithm>
#include <cmath>
#include <optional>

#include "base/text.h"
#include "comm/clock_offsets.h"
#include "comm/long_texts.h"
#include "config/device_set.h"
#include "data/stream/loader_stream.h"
#include "device/gpu_support.h"
#include "executor/compile/op_cost.h"
#include "formats/io/atomic_file.h"
#include "machine/cpu/host_facts.h"
#include "machine/gpu/gpu_facts.h"
#include "machine/process/process_clock.h"
#include "measure/metrics/metric.h"
#include "observe/device_tracer.h"
#include "observe/profiler.h"
#include "observe/run_observer.h"
#include "run/measured_run.h"
#include "run/outcome_of_exception.h"
#include "run/plan/cuda_graph_policy.h"
#include "run/plan/replica_set_options.h"
#include "run/plan/select_kernels.h"
#include "run/point_parts.h"
#include "run/start_record.h"
#include "run/training/train_point.h"
#include "run/verify/verification.h"
#include "trace/flight_recorder.h"
#include "train/captured_step.h"
#include "train/weight_init.h"

namespace tandem {
namespace {

struct Listeners {
  const ProgressCallback& progress;
  const MeasuredCallback& measured;
};

void checkLosses(const std::vector<double>& losses) {
  const auto bad = std::find_if(losses.begin(), losses.end(), [](double loss) { return !std::isfinite(loss); });
  if (bad == losses.end()) return;
  throw NumericError(concat("the loss is ", *bad, " at step ", bad - losses.begin(),
                            "; it must stay finite: lower --lr, or use --precision=fp32"));
}

/// The work of the plan's operations in a step of a replica; of replicas with unequal shares, in the mean.
std::vector<OpDemand> worksOf(const RunPlan& plan, const ReplicaSetOptions& team) {
  if (!plan.setup.executor->planned) return {};
  const ExecutorOptions executor{
      .compute = team.precision->compute,
      .kernels = team.kernels,
      .device = team.devices.front().torch(),
      .recompute = plan.config.step.forwardOnly ? recomputes().front() : team.recompute};  // only backward repeats
  const int64_t passes = plan.config.step.accumulate;
  const auto shares = team.shares.empty() ? std::vector{plan.replicaBatch} : team.shares;
  const double weight = static_cast<double>(passes) / static_cast<double>(shares.size());
  std::vector<OpDemand> works;
  for (const int64_t share : shares) {
    const std::vector<OpCost> costs = opCosts(*team.graph, executor, share / passes);
    works.resize(costs.size());
    for (size_t i = 0; i < costs.size(); ++i) {
      works[i].name = costs[i].name, works[i].call = costs[i].call;
      works[i].flops += weight * costs[i].flops, works[i].bytes += weight * costs[i].bytes;
    }
  }
  return works;
}

/// Rank 0's holds what all ranks record, and gets no more spans than that of a run of one rank.
std::unique_ptr<Profiler> profilerFor(const RunPlan& plan, const ReplicaSetOptions& team) {
  if (!plan.config.measurement.profile || servesAlone(plan)) return nullptr;
  const std::string& trace = plan.config.output.trace;
  if (!trace.empty() && isFirst(plan.world)) requireReplaceable(trace);
  const bool severalHosts = plan.place.localSize < plan.place.size;
  std::vector<std::string> places;
  for (const Device& device : team.devices)
    places.push_back(concat(severalHosts ? hostName() + ' ' : "", device.label()));
  const auto ranks = static_cast<size_t>(plan.place.size);
  return std::make_unique<Profiler>(std::move(places), trace.empty() ? 0 : Profiler::mostSpans / ranks,
                                    plan.cudaDevices.empty() ? worksOf(plan, team) : std::vector<OpDemand>());
}

/// Adds the other ranks' recordings to rank 0's. Collective. `profiler`: null where a rank only serves.
void gatherProfiles(World& world, Profiler* profiler) {
  const auto offsets = clockOffsets(world, bootId());
  const bool tells = profiler != nullptr && !isFirst(&world);
  const auto recorded = longTextsToFirst(world, tells ? profiler->packed() : "");
  for (size_t rank = 1; rank < recorded.size(); ++rank) {
    if (!recorded[rank].empty()) profiler->add(recorded[rank], offsets[rank].ahead, offsets[rank].error);
  }
}

/// Null without --profile or without GPUs.
std::unique_ptr<DeviceTracer> tracerFor(const RunPlan& plan, const ReplicaSetOptions& team) {
  if (!plan.config.measurement.profile || plan.cudaDevices.empty()) return nullptr;
  const GpuFacts& first = cudaFacts().gpus.at(static_cast<size_t>(plan.cudaDevices.front()));
  DeviceTracerOptions options{
      .devices = plan.cudaDevices, .works = worksOf(plan, team), .peaks = statedPeaks(first, *team.precision)};
  return std::make_unique<DeviceTracer>(std::move(options));
}

/// Compares the point's first steps, if --verify asks for it. The record is handed on before.
void verify(const MeasuredPoint& point, const Listeners& listeners, RunRecord& record) {
  if (!point.plan.setup.verify->wanted) return;
  record.equality = unfinishedStamp();
  if (listeners.measured) listeners.measured(record);
  if (listeners.progress) listeners.progress({.phase = Phase::comparing});
  record.equality = verified(point);
}

/// MeasuredRunOptions::waitingBatches.
int64_t waitingBatches(const RunPlan& plan) {
  if (!plan.config.step.loaderOnly || !plan.setup.source->queued) return 0;
  const int64_t ofProcesses = plan.setup.loader->byProcesses ? loaderSlots * plan.config.input.producers : 0;
  return plan.config.input.queueDepth + ofProcesses;
}

void measure(const RunPlan& asked, const Listeners& listeners, RunRecord& record) {
  const auto gpuUse = settledGpuUse(probedGpus(asked.cudaDevices));  // before this process uses the GPUs itself
  const Graph& graph = *asked.graph;
  const KernelSelection kernels = selectKernels(asked, graph, progressOf(Phase::choosingKernels, listeners.progress));
  append(record.notes, kernels.notes);
  for (const std::string& note : {asked.recomputeNote, standInNote(asked)}) {
    if (!note.empty()) record.notes.push_back(note);
  }
  const auto data = servesAlone(asked) ? TrainingData() : trainingData(asked);
  const RunPlan plan = withShares(asked, {}, kernels, data, listeners.progress);
  ReplicaSetOptions options = startedOptions(plan, kernels, data, record);
  record.placement = placementOf(plan, options);
  noteShares(options, record);
  const auto profiler = profilerFor(plan, options);
  const auto tracer = tracerFor(plan, options);
  const auto schedule = std::make_shared<ScheduleBegin>();
  options.optimizer.scheduleBegin = schedule;
  ReplicaSet team(options);
  RunObserver watch(plan.hostCores, plan.cudaDevices, gpuUse, observedProcesses(plan));
  if (data.feeders) watch.fedBy([feeders = data.feeders] { return feeders->processes(); });
  MeasuredRun run({.config = plan.config,
                   .globalBatch = plan.globalBatch,
                   .lossWeights = lossWeights(options),
                   .graph = &graph,
                   .watch = &watch,
                   .profiler = profiler.get(),
                   .schedule = schedule.get(),
                   .tracer = tracer.get(),
                   .world = plan.world,
                   .servesAlone = options.servesAlone,
                   .keepsWeightsEqual = plan.setup.strategy->exchange != Exchange::none,
                   .fewestWarmup = fewestWarmup(plan.config, plan.setup),
                   .waitingBatches = waitingBatches(plan)},
                  listeners.progress);
  SavedWeights weights(plan.place.rank == 0 ? plan.config.output.saveWeights : "");
  enterStage(Stage::training);
  team.run([&](ReplicaSet::Member& member) {
    run.body(member);
    if (member.index() == 0) weights.write(graph, member);
  });
  enterStage(Stage::ending);
  if (plan.config.measurement.profile && plan.world != nullptr) gatherProfiles(*plan.world, profiler.get());
  run.fill(record);
  watch.fill(record);
  weights.note(record);
  noteData(data, record);
  fillFrom(team, options, record);
  if (plan.setup.onCpu()) record.peakMemoryBytes += watch.feedersPeak();
  checkLosses(record.losses);
  weights.commit();
  record.wall = sinceProcessStart();
  if (!plan.config.output.trace.empty() && isFirst(plan.world)) {
    profiler->writeTrace(plan.config.output.trace, record,
                         tracer ? tracer->activities() : std::span<const DeviceActivity>());
  }
  const double step = metric("step_median_ms").of(record, nullptr).value_or(0) / 1e3;
  verify({plan, options, data, step, seconds(record.wall)}, listeners, record);
}

RunPlan withoutCudaGraph(RunPlan plan) {
  plan.setup.cudaGraph = &*std::ranges::find(cudaGraphs(), false, &CudaGraphEntry::wanted);
  plan.config.numerics.cudaGraph = plan.setup.cudaGraph->name;
  return plan;
}

/// Measures the plan, or trains it to the end.
void run(const RunPlan& plan, const Listeners& listeners, RunRecord& record) {
  if (plan.config.training.epochs > 0) return trainPoint(plan, listeners.progress, record);
  measure(plan, listeners, record);
}

/// Whether a step can be captured is certain only after the capture. If it fails and --cuda-graph does not require it,
/// the run starts again without.
void runWithOrWithoutCudaGraph(const RunPlan& plan, const Listeners& listeners, RunRecord& record) {
  const RunRecord before = record;
  const std::string option = concat("--cuda-graph=", plan.config.numerics.cudaGraph);
  try {
    run(plan, listeners, record);
    return;
  } catch (const CaptureFailed& failure) {
    const RunPlan without = withoutCudaGraph(plan);
    if (plan.setup.cudaGraph->required) {
      throw UsageError(concat(option, ": the step could not be recorded: ", failure.what(),
                              "; use --cuda-graph=", without.config.numerics.cudaGraph));
    }
    record = before;
    record.notes.push_back(concat(option, ": the step could not be recorded: ", failure.what()));
    run(without, listeners, record);
  }
  record.placement.cudaGraph = "off: it could not be recorded";
}

}  // namespace

RunRecord runPoint(const RunPlan& plan, const ProgressCallback& progress, const MeasuredCallback& measured) {
  RunRecord record = startRecord(plan.config);
  record.globalBatch = plan.globalBatch;
  try {
    runWithOrWithoutCudaGraph(plan, {progress, measured}, record);
  } catch (const std::exception& failure) {
    record.outcome = outcomeOf(failure, plan.config);
  }
  record.wall = sinceProcessStart();
  return record;
}

}  // namespace tandem
