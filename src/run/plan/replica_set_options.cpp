#include "run/plan/replica_set_options.h"

#include <cmath>

#include "base/catalog.h"
#include "base/error.h"
#include "run/plan/cuda_graph_policy.h"

namespace tandem {
namespace {

constexpr int64_t syntheticImages = 1024;
constexpr double bytesPerMib = 1024.0 * 1024.0;

std::shared_ptr<const Dataset> datasetOf(const RunPlan& plan, const Graph& graph) {
  if (plan.data) return plan.data;
  const Config& config = plan.config;
  const ImageShape input = graph.node(graph.input()).shape;
  DatasetInfo info;
  info.height = input.height, info.width = input.width;
  info.classes = config.classes;
  info.labels = &labelsOf(graph);
  return syntheticDataset(syntheticImages, std::move(info), static_cast<uint64_t>(config.seed));
}

BatchPlan batchPlan(const RunPlan& plan, const Graph& graph, int replica, int share) {
  const Config& config = plan.config;
  const ImageShape input = graph.node(graph.input()).shape;
  const bool real = plan.data != nullptr;
  return {.globalBatch = plan.globalBatch,
          .first = plan.replicaBatch * replica,
          .count = plan.replicaBatch * share,
          .height = input.height,
          .width = input.width,
          .seed = static_cast<uint64_t>(config.seed),
          .shuffle = real,
          .augment = real ? &find(augments(), config.augment, "--augment") : nullptr};
}

SourceOptions sourceOptions(const RunPlan& plan, const Device& device, const KernelSelection& kernels) {
  return {.maker = nullptr,
          .device = &device,
          .type = precisionOf(plan.config).compute,
          .format = kernels.layout->format,
          .zeroChannels = kernels.zeroChannels,
          .producers = plan.config.producers,
          .queueDepth = plan.config.queueDepth,
          .hardwareThreads = {}};
}

}  // namespace

OptimizerOptions optimizerOptions(const Config& config) {
  return {.rule = &find(optimizers(), config.optimizer, "--optimizer"),
          .learningRate = config.learningRate,
          .momentum = config.momentum,
          .weightDecay = config.weightDecay,
          .nesterov = config.nesterov,
          .beta1 = config.adamBeta1,
          .beta2 = config.adamBeta2,
          .epsilon = config.adamEpsilon,
          .schedule = &find(schedules(), config.schedule, "--schedule"),
          .totalSteps = config.steps};
}

std::vector<Device> devicesOf(const RunPlan& plan) {
  std::vector<Device> devices;
  for (int64_t i = 0; i < plan.config.replicas; ++i) {
    const auto at = static_cast<size_t>(i);
    devices.push_back(plan.cudaDevices.empty() ? Device::cpu(static_cast<int>(i), plan.cores.threadsOf.at(at),
                                                             plan.cores.threadsPerReplica, plan.cores.nodeOf.at(at))
                                               : Device::cuda(plan.cudaDevices.at(at)));
  }
  return devices;
}

ReplicaSetOptions replicaSetOptions(const RunPlan& plan, const Graph& graph, const KernelSelection& kernels) {
  const Config& config = plan.config;
  check(config.data.empty() == (plan.data == nullptr), "the plan holds the data set that it names");
  ReplicaSetOptions options;
  options.graph = &graph;
  options.devices = devicesOf(plan);
  options.executor = &find(executors(), config.executor, "--executor");
  options.strategy = &find(strategies(), config.strategy, "--strategy");
  options.allReduce = &find(allReduces(), allReduceOf(config), "--all-reduce");
  options.parameterDevice = config.parameterDevice;
  options.bucketBytes = static_cast<int64_t>(std::llround(config.bucketMib * bytesPerMib));
  options.overlap = config.overlap != "off";
  options.lossAt = config.lossAt;
  options.labelSmoothing = config.labelSmoothing;
  options.precision = &precisionOf(config);
  options.kernels = kernels;
  options.recompute = find(recomputes(), config.recompute, "--recompute");
  options.optimizer = optimizerOptions(config);
  options.seed = static_cast<uint64_t>(config.seed);
  options.accumulate = config.accumulate;
  options.forwardOnly = config.forwardOnly;
  options.inFlight = config.inFlight;
  if (cudaGraphPolicy(config).on) options.recorder = makeCapturedGraph;
  options.blockingWaits = plan.cores.shared;

  const auto dataset = datasetOf(plan, graph);
  const int share = config.lossAt == "gathered" ? static_cast<int>(config.replicas) : 1;
  options.source = [plan, &graph, kernels, dataset, share, devices = options.devices](int replica) {
    SourceOptions source = sourceOptions(plan, devices[static_cast<size_t>(replica)], kernels);
    if (!plan.cores.threadsOf.empty()) source.hardwareThreads = plan.cores.threadsOf[static_cast<size_t>(replica)];
    source.maker = std::make_shared<BatchMaker>(dataset, batchPlan(plan, graph, replica, share));
    return find(sources(), plan.config.input, "--input").make(source);
  };
  return options;
}

}  // namespace tandem
