#include "run/plan/replica_set_options.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <mutex>
#include <numeric>

#include "base/catalog.h"
#include "config/device_set.h"
#include "config/modes.h"
#include "data/dataset/class_weights.h"
#include "data/loader/batch_maker.h"
#include "data/stream/streamed_batches.h"
#include "data/transform/normalizations.h"
#include "run/child/loader_worker.h"
#include "run/plan/cuda_graph_policy.h"

namespace tandem {
namespace {

constexpr int64_t syntheticImages = 1024;
constexpr double bytesPerMib = 1024.0 * 1024.0;

int64_t bytesOf(double mebibytes) { return std::llround(mebibytes * bytesPerMib); }

/// Of `replicas` from `first` on, among those of all ranks.
int64_t imagesOf(const RunPlan& plan, int64_t first, int64_t replicas) {
  const auto begin = plan.shares.begin() + first;
  return std::accumulate(begin, begin + replicas, int64_t{0});
}

int64_t firstReplica(const RunPlan& plan) { return plan.place.rank * plan.config.placement.replicas; }

/// `replica`: among those of all ranks. `count`: number of replicas whose images are one batch.
BatchPlan batchPlan(const RunPlan& plan, int64_t replica, int64_t count, const TrainingData& data) {
  const ImageShape input = plan.graph->node(plan.graph->input()).shape;
  return {.globalBatch = plan.globalBatch,
          .first = imagesOf(plan, 0, replica),
          .count = imagesOf(plan, replica, count),
          .height = input.height,
          .width = input.width,
          .firstBatch = plan.firstBatch,
          .seed = static_cast<uint64_t>(plan.config.step.seed),
          .shuffle = plan.data.has_value(),
          .shuffleBuffer = plan.config.input.shuffleBuffer,
          .augment = plan.augment,
          .badImages = data.bad,
          .parts = plan.setup.decoding->parts};
}

SourceOptions sourceOptions(const RunPlan& plan, int64_t replica, const Device& device,
                            const KernelSelection& kernels) {
  return {.batches = nullptr,
          .form = {.device = &device,
                   .type = plan.setup.precision->compute,
                   .format = kernels.layout.format,
                   .zeroChannels = kernels.zeroChannels},
          .mixing = mixingOf(plan),
          .firstBatch = plan.firstBatch,
          .firstImage = imagesOf(plan, 0, firstReplica(plan) + replica),
          .producers = plan.setup.byProcesses() ? 1 : plan.config.input.producers,
          .queueDepth = plan.config.input.queueDepth,
          .hardwareThreads = threadsOfReplica(plan, replica)};
}

/// Opens the stream of the plan, whose batches are those of `count` replicas.
std::shared_ptr<DealtFrames> openStream(const RunPlan& plan, int64_t count, const TrainingData& data) {
  const Config& config = plan.config;
  const ImageShape input = plan.graph->node(plan.graph->input()).shape;
  const int64_t streams = config.placement.replicas / count, batch = plan.replicaBatch * count;
  constexpr int64_t headBytes = 1 << 10;
  const LabelKind& labels = labelsOf(*plan.graph);
  constexpr int64_t ofValue = sizeof(double);  // a sender may send a label's numbers in the widest type
  const auto ofLabel =
      static_cast<int64_t>(labelBytes(labels, config.network.classes) / c10::elementSize(labels.type)) * ofValue;
  const int64_t ofImage = input.height * input.width * input.channels * static_cast<int64_t>(sizeof(float));
  const StreamOptions options{.name = std::string(plan.setup.source->name),
                              .argument = plan.setup.sourceArgument,
                              .waiting = config.input.queueDepth * streams,
                              .firstWorker = plan.place.rank * config.input.producers,
                              .workers = config.input.producers,
                              .allWorkers = plan.place.size * config.input.producers,
                              .mostBytes = headBytes + batch * (ofImage + ofLabel),
                              .shape = {batch, input.height, input.width, config.network.classes},
                              .connects = config.input.zmqConnect,
                              .keys = config.input.zmqKeys,
                              .feeders = data.feeders,
                              .mayBeOpen = config.input.insecureZmq};
  const Normalization* normalization = normalizationOf(plan.setup);
  const StreamedForm form{.stream = options.text(),
                          .origin = {options.text(), "", {}, {}},
                          .shape = options.shape,
                          .labels = &labels,
                          .normalization = normalization == nullptr ? usualNormalization() : *normalization,
                          .timeoutSeconds = config.exchange.timeout};
  return std::make_shared<DealtFrames>(plan.setup.source->stream(options), form, streams, options.waiting);
}

/// What gives a replica of this process its batches, each of which is that of `count` replicas. A stream is opened when
/// the first replica asks, and closed when the last one has ended.
std::function<std::shared_ptr<const HostBatches>(int replica)> batchesOf(const RunPlan& plan, int64_t count,
                                                                         const TrainingData& data) {
  if (plan.setup.source->stream == nullptr) {
    return [plan, count, data](int replica) -> std::shared_ptr<const HostBatches> {
      if (plan.setup.loader->byProcesses) return batchesByProcesses(plan, replica, count, data);
      return batchMaker(plan, firstReplica(plan) + replica, count, data);
    };
  }
  struct Opened {
    std::mutex mutex;
    std::weak_ptr<DealtFrames> frames;
  };
  return [plan, count, data, opened = std::make_shared<Opened>()](int replica) {
    const std::lock_guard lock(opened->mutex);
    auto frames = opened->frames.lock();
    if (!frames) opened->frames = frames = openStream(plan, count, data);
    return dealtTo(replica, std::move(frames));
  };
}

std::shared_ptr<const Dataset> trainedImages(const RunPlan& plan) {
  const Config& config = plan.config;
  if (plan.data) {
    return openDataset(config.input.data, {.split = splitOf(plan.setup),
                                           .normalization = normalizationOf(plan.setup),
                                           .classes = config.network.classes});
  }
  const ImageShape input = plan.graph->node(plan.graph->input()).shape;
  DatasetInfo info;
  info.height = input.height, info.width = input.width;
  info.classes = config.network.classes;
  info.labels = &labelsOf(*plan.graph);
  return syntheticDataset(syntheticImages, std::move(info), static_cast<uint64_t>(config.step.seed));
}

/// Of --class-weights; undefined: there are none.
at::Tensor classWeightsOf(const RunPlan& plan, const Dataset& images) {
  const std::string& asked = plan.config.step.classWeights;
  if (asked.empty()) return {};
  const int64_t classes = plan.config.network.classes;
  return asked == Config::balanced ? balancedClassWeights(images, classes) : classWeightsIn(asked, classes);
}

}  // namespace

std::vector<Device> devicesOf(const RunPlan& plan) {
  const std::vector<int> indices = deviceIndices(plan.config);
  std::vector<Device> devices;
  for (size_t i = 0; i < indices.size(); ++i) {
    devices.push_back(plan.setup.onCpu() ? Device::onCores(indices[i], plan.cores, i)
                                         : Device::cuda(plan.cudaDevices.at(i)));
  }
  return devices;
}

ReplicaSetOptions replicaSetOptions(const RunPlan& plan, const Graph& graph, const KernelSelection& kernels) {
  const Config& config = plan.config;
  const Setup& setup = plan.setup;
  ReplicaSetOptions options;
  options.graph = &graph;
  options.devices = devicesOf(plan);
  options.executor = setup.executor;
  options.strategy = setup.strategy;
  options.allReduce = setup.allReduce;
  options.world = plan.world;
  options.parameterDevice = config.exchange.parameterDevice;
  options.servers = {.ranks = config.exchange.serverRanks,
                     .alone = config.placement.servers,
                     .maxStaleness = config.exchange.maxStaleness,
                     .timeoutSeconds = config.exchange.timeout};
  options.localSgd = {.syncEvery = config.exchange.syncEvery, .blockMomentum = config.exchange.blockMomentum};
  options.compression = {.method = setup.compression,
                         .ratio = config.exchange.compressionRatio,
                         .rank = config.exchange.compressionRank,
                         .start = config.exchange.compressionStart};
  options.buckets = {.bytes = bytesOf(config.exchange.bucketMib), .first = bytesOf(config.exchange.firstBucketMib)};
  options.overlap = setup.overlap->duringBackward;
  options.lossPlacement = setup.lossPlacement;
  options.labelSmoothing = config.step.labelSmoothing;
  options.targetThreshold = config.step.bceThreshold;
  options.precision = setup.precision;
  options.kernels = kernels;
  options.recompute = *setup.recompute;
  options.optimizer = optimizerOptions(config, setup);
  options.seed = static_cast<uint64_t>(config.step.seed);
  options.servesAlone = servesAlone(plan);
  options.firstReplica = static_cast<int>(firstReplica(plan));
  options.shares = unequalShares(plan);
  options.accumulate = config.step.accumulate;
  options.syncBatchNorm = config.exchange.syncBatchNorm;
  options.forwardOnly = config.step.forwardOnly;
  options.loaderOnly = config.step.loaderOnly;
  options.inFlight = config.numerics.inFlight;
  options.recorder = graphRecorder(config, setup);
  options.blockingWaits = plan.cores.shared;
  return options;
}

std::shared_ptr<BadImages> badImagesOf(const RunPlan& plan, int64_t images, bool leavesOut) {
  const BadImageEntry& asked = find(badImages(), plan.config.inference.badImage, "--bad-image");
  if (!asked.leftOut && !asked.blackened) return nullptr;
  const double most = static_cast<double>(images) * plan.config.input.maxBad / 100;
  return std::make_shared<BadImages>(BadImages::Policy{.blackened = asked.blackened || !leavesOut,
                                                       .most = std::max<int64_t>(1, std::llround(std::floor(most)))});
}

TrainingData trainingData(const RunPlan& plan) {
  TrainingData data;
  data.images = trainedImages(plan);
  if (plan.data) data.bad = badImagesOf(plan, plan.data->images, /*leavesOut=*/true);
  const bool fedByOthers = plan.setup.source->stream != nullptr || plan.setup.loader->byProcesses;
  if (fedByOthers) data.feeders = std::make_shared<Feeders>();
  if (plan.config.input.cacheGib == 0) return data;
  if (plan.setup.loader->byProcesses) {
    data.caches = std::make_shared<CacheUse>();
  } else {
    data.images = data.cache = std::make_shared<const CachedDataset>(data.images, cacheBytesOfRank(plan));
  }
  return data;
}

ReplicaSetOptions trainingOptions(const RunPlan& plan, const KernelSelection& kernels, TrainingData data) {
  if (!data.images) data = trainingData(plan);
  ReplicaSetOptions options = replicaSetOptions(plan, *plan.graph, kernels);
  options.classWeights = classWeightsOf(plan, *data.images);
  options.source = batchSources(plan, kernels, data);
  return options;
}

BatchSourceMaker batchSources(const RunPlan& plan, const KernelSelection& kernels, const TrainingData& data) {
  const int64_t count = plan.setup.lossPlacement->gathered ? plan.config.placement.replicas : 1;
  const auto batches = batchesOf(plan, count, data);
  return [plan, kernels, batches, devices = devicesOf(plan)](int replica) {
    SourceOptions source = sourceOptions(plan, replica, devices[static_cast<size_t>(replica)], kernels);
    source.batches = batches(replica);
    return plan.setup.source->make(source);
  };
}

std::shared_ptr<const BatchMaker> batchMaker(const RunPlan& plan, int64_t replica, int64_t count,
                                             const TrainingData& data) {
  return std::make_shared<const BatchMaker>(data.images, batchPlan(plan, replica, count, data));
}

std::vector<int> threadsOfReplica(const RunPlan& plan, int64_t replica) {
  return plan.cores.threadsOf.empty() ? std::vector<int>() : plan.cores.threadsOf[static_cast<size_t>(replica)];
}

std::string TrainingData::cacheText() const {
  if (!cache && !caches) return {};
  const KeptSamples kept = cache ? cache->kept() : caches->sum();
  return concat("--cache keeps ", kept.samples, cache ? concat(" of ", images->size()) : "", " samples",
                cache ? "" : concat(" of a data set of ", images->size(), ", some perhaps in several processes"), ", ",
                bytesText(static_cast<double>(kept.bytes)));
}

Mixing mixingOf(const RunPlan& plan) {
  const Config& config = plan.config;
  return {config.step.mixup, config.step.cutmix, static_cast<uint64_t>(config.step.seed), config.network.classes};
}

std::shared_ptr<const BatchMaker> joinedBatches(const RunPlan& plan, const TrainingData& data) {
  return batchMaker(plan, /*replica=*/0, totalReplicas(plan.config), data);
}

}  // namespace tandem
