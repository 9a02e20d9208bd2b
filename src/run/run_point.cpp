#include "run/run_point.h"

#include <ATen/Context.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <optional>

#include "base/number.h"
#include "base/text.h"
#include "comm/clock_offsets.h"
#include "comm/long_texts.h"
#include "config/device_set.h"
#include "config/split.h"
#include "data/stream/loader_stream.h"
#include "device/gpu_support.h"
#include "executor/compile/op_cost.h"
#include "executor/compile/plan_description.h"
#include "formats/io/atomic_file.h"
#include "machine/cpu/host_facts.h"
#include "machine/gpu/gpu_facts.h"
#include "machine/process/process_clock.h"
#include "measure/metrics/metric.h"
#include "measure/metrics/updates.h"
#include "observe/device_tracer.h"
#include "observe/profiler.h"
#include "observe/run_observer.h"
#include "run/measured_run.h"
#include "run/measured_shares.h"
#include "run/outcome_of_exception.h"
#include "run/plan/cuda_graph_policy.h"
#include "run/plan/replica_set_options.h"
#include "run/plan/select_kernels.h"
#include "run/plan/step_cost.h"
#include "run/start_record.h"
#include "run/verify/verification.h"
#include "trace/fault.h"
#include "trace/flight_recorder.h"
#include "train/captured_step.h"
#include "train/checkpoint/weight_loader.h"
#include "train/weight_init.h"

namespace tandem {
namespace {

struct Listeners {
  const ProgressCallback& progress;
  const MeasuredCallback& measured;
};

/// ActualSetup::update.
std::string updateOf(const Setup& setup) {
  const Exchange exchange = exchangeOf(*setup.strategy, *setup.precision);
  if (exchange != Exchange::stale && exchange != Exchange::lossy) return "";
  const std::string name = optionsText(*setup.strategy);
  if (exchange == setup.strategy->exchange) return name;
  return concat(name, " with gradients in ", gradientPrecisionOf(setup.precision->wire).name);
}

ActualSetup placementOf(const RunPlan& plan, const ReplicaSetOptions& team) {
  const StrategyEntry& strategy = *plan.setup.strategy;
  ActualSetup placement;
  for (const Device& device : team.devices) placement.replicas.push_back(device.label());
  placement.shares = team.shares;
  placement.threadsPerReplica = plan.cores.threadsPerReplica;
  placement.sharedCores = plan.cores.shared;
  placement.link = plan.link;
  if (strategy.usesAllReduce && totalReplicas(plan.config) > 1) placement.allReduce = plan.setup.allReduce.text();
  placement.control = strategy.exchange == Exchange::none && totalReplicas(plan.config) > 1;
  placement.update = updateOf(plan.setup);
  placement.layout = team.kernels.layout.name;
  placement.cudaGraph = cudaGraphText(plan.config, plan.setup);
  placement.loss = plan.graph->loss().name;
  placement.network = plan.network;
  placement.networkSha256 = plan.networkSha256;
  placement.kernels = team.kernels.details;
  placement.zeroChannels = team.kernels.zeroChannels;
  placement.convolutionPasses = passesOf(team.kernels, *team.graph);
  if (plan.setup.executor->planned) placement.byAutograd = operationsByAutograd(*team.graph);
  placement.activationBytes = plan.activationBytes;
  placement.parameters = plan.parameters;
  if (plan.data) placement.dataImages = plan.data->images;
  placement.ownImageSize = plan.ownImageSize;
  placement.forwardFlopsPerImage = plan.forwardFlopsPerImage;
  const StepWork work = stepWork(plan);
  placement.flopsPerImage = work.flopsPerImage;
  placement.bytesPerStep = work.bytesPerStep;
  return placement;
}

/// The largest value over the devices.
int64_t largest(const std::vector<Device>& devices, int64_t (Device::*bytes)() const) {
  int64_t most = 0;
  for (const Device& device : devices) most = std::max(most, (device.*bytes)());
  return most;
}

void checkLosses(const std::vector<double>& losses) {
  const auto bad = std::find_if(losses.begin(), losses.end(), [](double loss) { return !std::isfinite(loss); });
  if (bad == losses.end()) return;
  throw NumericError(concat("the loss is ", *bad, " at step ", bad - losses.begin(),
                            "; it must stay finite: lower --lr, or use --precision=fp32"));
}

void append(std::vector<std::string>& notes, const std::vector<std::string>& more) {
  notes.insert(notes.end(), more.begin(), more.end());
}

/// The processes of the run on this host, for the first rank there, which samples it; none for the others.
std::vector<int> observedProcesses(const RunPlan& plan) {
  if (plan.world == nullptr) return {getpid()};
  std::vector<int> processes;
  for (const std::string& text : plan.world->exchange(concat(hostName(), ' ', getpid()))) {
    const auto said = split(text, " ");
    if (said.at(0) == hostName()) processes.push_back(numberIn<int>(said.at(1)).value());
  }
  return plan.place.localRank == 0 ? processes : std::vector<int>();
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

/// Tells of a phase before the measured run, which has so many parts.
std::function<void(int64_t, int64_t)> progressOf(Phase phase, const ProgressCallback& progress) {
  return [phase, &progress](int64_t part, int64_t parts) {
    if (progress) progress({.phase = phase, .step = part, .steps = parts});
  };
}

/// The plan with the shares that --split=measured finds.
RunPlan withShares(RunPlan plan, const KernelSelection& kernels, const TrainingData& data,
                   const ProgressCallback& progress) {
  if (!parseSplit(plan.config.step.split).value().measured) return plan;
  plan.shares = measuredShares(plan, kernels, data, progressOf(Phase::sharingOut, progress));
  plan.replicaBatch = std::ranges::max(plan.shares);
  return plan;
}

/// MeasuredRunOptions::lossWeights.
std::vector<double> lossWeights(const ReplicaSetOptions& options) {
  std::vector<double> weights;
  const auto mean = meanShare(options);
  for (const int64_t share : ownShares(options)) weights.push_back(static_cast<double>(share) / *mean);
  return weights;
}

/// MeasuredRunOptions::waitingBatches.
int64_t waitingBatches(const RunPlan& plan) {
  if (!plan.config.step.loaderOnly || !plan.setup.source->queued) return 0;
  const int64_t ofProcesses = plan.setup.loader->byProcesses ? loaderSlots * plan.config.input.producers : 0;
  return plan.config.input.queueDepth + ofProcesses;
}

void noteShares(const ReplicaSetOptions& options, RunRecord& record) {
  if (options.shares.empty()) return;
  std::vector<std::string> texts;
  for (const int64_t share : options.shares) texts.push_back(concat(share));
  record.notes.push_back(
      concat("the replicas' shares of the global batch (--split=", record.config.step.split, "): ", join(texts)));
}

/// The file of --save-weights, which replaces what is there once the run is judged. Without the option: nothing.
class SavedWeights {
 public:
  explicit SavedWeights(const std::string& path) : path_(path) {
    if (!path.empty()) file_.emplace(path);
  }
  void write(const Graph& graph, ReplicaSet::Member& member) {
    if (!file_) return;
    faultAt(FaultPhase::write);
    appendWeights(*file_, graph, member.buffers(), member.executor());
  }
  void note(RunRecord& record) const {
    if (file_ && updatesOf(record)) record.notes.push_back(concat(path_, ": ", updatesText(record)));
  }
  void commit() {
    if (!file_) return;
    faultAt(FaultPhase::rename);
    file_->commit();
  }

 private:
  const std::string path_;
  std::optional<AtomicFile> file_;
};

ReplicaSetOptions measuredOptions(const RunPlan& plan, const KernelSelection& kernels, const TrainingData& data,
                                  RunRecord& record) {
  ReplicaSetOptions options =
      servesAlone(plan) ? replicaSetOptions(plan, *plan.graph, kernels) : trainingOptions(plan, kernels, data);
  options.keepsFlightLog = !options.servesAlone;
  options.pretrained = readPretrained(plan.config, *plan.graph);
  if (!options.pretrained) return options;
  append(record.notes, options.pretrained->notes);
  append(record.notes, options.pretrained->warnings);
  return options;
}

/// What the replicas used and exchanged. Those that only serve are none of the record's.
void fillFrom(const ReplicaSet& team, const ReplicaSetOptions& options, RunRecord& record) {
  record.peakMemoryBytes = largest(options.devices, &Device::peakBytes);
  record.peakReservedBytes = largest(options.devices, &Device::peakReservedBytes);
  const StrategyTraffic traffic = team.traffic();
  record.traffic = {traffic.bytesPerStep, traffic.messagesPerStep, traffic.bytesBetweenRanks};
  if (const auto staleness = team.staleness()) {
    const auto updates = static_cast<double>(std::max<int64_t>(1, staleness->updates));
    record.staleness = {staleness->updates, static_cast<double>(staleness->sum) / updates, staleness->most};
  }
  record.placement.exchangeMemory = team.exchangeMemory();
  if (!record.placement.allReduce.empty() && !team.sums().empty()) record.placement.allReduce = team.sums();
  if (options.servesAlone) record.placement.replicas.clear(), record.steps.clear();
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
  const RunPlan plan = withShares(asked, kernels, data, listeners.progress);
  ReplicaSetOptions options = measuredOptions(plan, kernels, data, record);
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
  if (data.bad && !data.bad->text().empty()) record.notes.push_back(data.bad->text());
  if (const std::string cached = data.cacheText(); !cached.empty()) record.notes.push_back(cached);
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

/// Whether a step can be captured is certain only after the capture. If it fails and --cuda-graph does not require it,
/// the run starts again without.
void measureWithOrWithoutCudaGraph(const RunPlan& plan, const Listeners& listeners, RunRecord& record) {
  const RunRecord before = record;
  const std::string option = concat("--cuda-graph=", plan.config.numerics.cudaGraph);
  try {
    measure(plan, listeners, record);
    return;
  } catch (const CaptureFailed& failure) {
    const RunPlan without = withoutCudaGraph(plan);
    if (plan.setup.cudaGraph->required) {
      throw UsageError(concat(option, ": the step could not be recorded: ", failure.what(),
                              "; use --cuda-graph=", without.config.numerics.cudaGraph));
    }
    record = before;
    record.notes.push_back(concat(option, ": the step could not be recorded: ", failure.what()));
    measure(without, listeners, record);
  }
  record.placement.cudaGraph = "off: it could not be recorded";
}

}  // namespace

RunRecord runPoint(const RunPlan& plan, const ProgressCallback& progress, const MeasuredCallback& measured) {
  RunRecord record = startRecord(plan.config);
  record.globalBatch = plan.globalBatch;
  try {
    measureWithOrWithoutCudaGraph(plan, {progress, measured}, record);
  } catch (const std::exception& failure) {
    record.outcome = outcomeOf(failure, plan.config);
  }
  record.wall = sinceProcessStart();
  return record;
}

}  // namespace tandem
