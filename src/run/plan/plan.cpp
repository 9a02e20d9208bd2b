#include "run/plan/plan.h"

#include <algorithm>
#include <limits>
#include <numeric>
#include <set>

#include "base/text.h"
#include "config/device_set.h"
#include "config/head.h"
#include "config/option.h"
#include "config/split.h"
#include "device/device.h"
#include "executor/compile/plan_description.h"
#include "executor/select/kernel_selection.h"
#include "formats/io/file.h"
#include "kernels/simd/isa_dispatch.h"
#include "models/model.h"
#include "run/outcome_of_exception.h"
#include "run/plan/device_assignment.h"
#include "run/plan/placement.h"
#include "run/plan/rules.h"

namespace tandem {
namespace {

std::optional<DatasetFacts> dataOf(const Config& config, const Setup& setup) {
  return config.input.data.empty() ? std::nullopt : std::optional(probeDataset(config.input.data, splitOf(setup)));
}

/// Read also where there is no --data, so that a wrong chain is refused.
std::shared_ptr<const Augmentation> augmentOf(const RunPlan& plan) {
  const std::string& asked = plan.config.input.augment;
  auto augment = augmentationOf(asked == Config::automatic ? usualAugment(/*encoded=*/false) : asked);
  augment.chain = inOrderOf(plan.setup.normalization, std::move(augment.chain));
  return plan.data ? std::make_shared<const Augmentation>(std::move(augment)) : nullptr;
}

/// `ranksHere`: on this host.
Config resolved(Config config, const Setup& setup, const std::optional<DatasetFacts>& data, int64_t ranksHere) {
  const ModelFacts model = modelFacts(config.network.model);
  const HeadText head = headOf(config);
  if (head.outputs != 0) config.network.classes = head.outputs, config.network.head = head.kind;
  if (config.input.source == Config::automatic) config.input.source = setup.source->name;
  if (data && config.input.augment == Config::automatic) config.input.augment = usualAugment(data->info.encoded());
  if (config.network.classes == 0 && data) config.network.classes = data->info.classes;
  if (config.network.classes == 0) config.network.classes = model.classes;
  if (config.network.imageSize == 0) config.network.imageSize = model.input.height;
  if (config.step.batch == 0) config.step.batch = model.batch;
  const double ownRate = setup.optimizer->learningRate;
  if (config.step.learningRate == 0) config.step.learningRate = ownRate != 0 ? ownRate : model.learningRate;
  if (config.placement.coresPerReplica == 0 && setup.onCpu()) {
    config.placement.coresPerReplica =
        std::max<int64_t>(1, std::ssize(readTopology().cores) / (devicesOfRank(config) * ranksHere));
  }
  return config;
}

/// With what options imply of others.
Config withImplied(Config config) {
  if (config.step.loaderOnly) config.step.forwardOnly = true;
  return config;
}

/// The network of a configuration whose classes and image size are resolved. Throws UsageError.
Graph graphOf(const Config& config) {
  const std::string kind = headOf(config).kind;
  Graph graph = buildModel(config.network.model, {.classes = config.network.classes,
                                                  .imageSize = config.network.imageSize,
                                                  .loss = kind == Config().network.head ? nullptr : &lossOfHead(kind)});
  if (config.step.loss != Config::automatic) graph.setLoss(lossInForm(graph.loss(), config.step.loss));
  return graph;
}

void resolveModel(RunPlan& plan) {
  const Config& config = plan.config;
  plan.graph = std::make_shared<const Graph>(graphOf(config));
  const ModelFacts facts = modelFacts(config.network.model);
  if (!facts.sha256.empty()) plan.network = facts.name, plan.networkSha256 = facts.sha256;
  plan.parameters = parameterCount(*plan.graph);
  plan.ownImageSize = facts.input.height;
  if (!plan.config.step.loaderOnly) plan.forwardFlopsPerImage = forwardFlops(*plan.graph);
}

/// Each share is a multiple of imagesTogether(). Empty if there are no such shares.
std::vector<int64_t> sharesOf(const Config& config, int64_t globalBatch) {
  const int64_t replicas = totalReplicas(config), unit = imagesTogether(config.step);
  std::vector<double> weights = parseSplit(config.step.split).value().weights;
  if (weights.empty()) weights.assign(static_cast<size_t>(replicas), 1);
  if (std::ssize(weights) != replicas || globalBatch % unit != 0 || globalBatch / unit < replicas) return {};
  std::vector<int64_t> shares = apportioned(globalBatch / unit, weights);
  for (int64_t& share : shares) share *= unit;
  return shares;
}

void resolveBatch(RunPlan& plan) {
  const int64_t batch = plan.config.step.batch;
  plan.globalBatch = plan.setup.scaling->batchIsGlobal ? batch : batch * totalReplicas(plan.config);
  plan.shares = sharesOf(plan.config, plan.globalBatch);
  plan.replicaBatch = plan.shares.empty() ? batch : std::ranges::max(plan.shares);
}

/// Zero channels by --pad-images; 0 for "auto", which is measured later.
int64_t namedZeroChannels(const RunPlan& plan) {
  const ImagePaddingEntry* const padding = plan.setup.padding;
  return padding == nullptr || !canPadImages(*plan.graph) ? 0 : zeroChannels(*plan.graph, *padding);
}

/// Copies of weights and optimizer state per memory. Replicas on a CPU have one each, but with a sharded update one per
/// NUMA node.
int64_t parameterCopies(const RunPlan& plan) {
  if (!plan.setup.onCpu()) return 1;
  const bool owners = plan.setup.strategy->ownersUpdate && plan.setup.allReduce.ownersUpdate();
  if (!owners) return plan.config.placement.replicas;
  return std::ssize(std::set<int>(plan.cores.nodeOf.begin(), plan.cores.nodeOf.end()));
}

void resolveActivations(RunPlan& plan) {
  const Config& config = plan.config;
  const Setup& setup = plan.setup;
  if (!setup.executor->planned || config.step.forwardOnly) return;
  const KernelSelection kernels{.layout = setup.firstLayout(),  // a blocked layout keeps as many bytes
                                .zeroChannels = namedZeroChannels(plan)};
  const ExecutorOptions options{
      .compute = setup.precision->compute, .kernels = kernels, .device = setup.device, .recompute = *setup.recompute};
  const PlanDescription description = describePlan(*plan.graph, options, plan.replicaBatch / config.step.accumulate);
  plan.activationBytes = description.keptBytes;
  if (config.numerics.recompute == Config().numerics.recompute || description.segments > 1) return;
  plan.recomputeNote =
      concat("--recompute=", config.numerics.recompute, " computes nothing again: ", config.network.model,
             " has no place where it would save memory");
}

void resolveMemory(RunPlan& plan) {
  resolveActivations(plan);
  plan.memory = estimateMemory(plan.config, plan.setup,
                               {.graph = plan.graph.get(),
                                .replicaBatch = plan.replicaBatch,
                                .replicasPerDevice = plan.setup.onCpu() ? plan.config.placement.replicas : 1,
                                .parameterCopies = parameterCopies(plan),
                                .datasetBytes = plan.data ? plan.data->bytes() : 0,
                                .cacheBytes = cacheBytesOfRank(plan),
                                .keptBytes = plan.activationBytes});
}

BatchRange batchRange(const RunPlan& plan) {
  const Config& config = plan.config;
  BatchRange range{
      .guess = 1, .most = Config::largestBatch, .unit = imagesTogether(config.step), .bound = "--batch ends there"};
  const int64_t replicas = totalReplicas(config);
  if (plan.data && plan.data->images / replicas < range.most) {
    range.most = plan.data->images / replicas;
    range.bound = concat("--data has ", plan.data->images, " images");
  }
  if (range.most >= range.unit) return range;
  throw UsageError(concat("--batch=max with --accumulate=", range.unit, " and ", replicas,
                          " replicas: each part needs an image and ", range.bound,
                          "; lower --accumulate or --replicas"));
}

/// The guess is a sixteenth below the largest batch that fits by the estimate, which is linear in the batch. A
/// sixteenth is half of the search's first stride. So if the estimate is wrong by up to 5 %, the first probe fits and
/// the second does not. Without the margin every second search would start by using up the memory.
int64_t guessedBatch(RunPlan plan) {
  constexpr int64_t marginPart = 16;
  const BatchRange& range = *plan.search;
  const auto bytesOf = [&](int64_t batch) {
    plan.replicaBatch = batch;
    resolveMemory(plan);
    return plan.memory.total();
  };
  const int64_t first = bytesOf(range.unit), perUnit = std::max<int64_t>(1, bytesOf(2 * range.unit) - first);
  const int64_t room = 1 + (memoryToUse(plan.availableBytes) / plan.place.localSize - first) / perUnit;
  return range.unit * std::clamp<int64_t>(room - room / marginPart, 1, range.most / range.unit);
}

void resolveSearch(RunPlan& plan) {
  if (plan.config.step.batch != Config::mostThatFits) return;
  plan.search = batchRange(plan);
  plan.config.step.batch = plan.search->guess = guessedBatch(plan);
}

/// On GPUs, whose memory the estimate is of, too.
void checkCache(const RunPlan& plan) {
  if (plan.config.input.cacheGib == 0) return;
  const int64_t available = Device::cpu(0, {}, 1).availableBytes();
  if (plan.place.localSize * cacheBytesOfRank(plan) <= available) return;
  throw UsageError(concat("--cache=", plan.config.input.cacheGib, " GiB is more than the ",
                          bytesText(static_cast<double>(available)), " of memory that is available; lower it"));
}

/// Found before anything runs; what is in the file is read with the network.
void checkWeightsFile(const std::string& path) {
  if (!path.empty()) readFileHead(path, 0);
}

}  // namespace

Config resolveConfig(const Config& config) {
  const Setup setup = setupOf(config);
  return resolved(withImplied(config), setup, dataOf(config, setup), processCount(config));
}

RunPlan resolvePlan(const Config& asked, const RankPlace* place) {
  usedIsa();  // TANDEM_VECTORS is refused here, before anything runs
  const Config config = withImplied(placed(asked));
  checkCombination(config);
  RunPlan plan;
  plan.place = place != nullptr ? *place : placeOnOneHost(0, static_cast<int>(processCount(config)), /*port=*/0);
  plan.setup = setupOf(config);
  checkSetup(config, plan.setup);
  plan.data = dataOf(config, plan.setup);
  checkWeightsFile(config.network.weights);
  plan.config = resolved(config, plan.setup, plan.data, plan.place.localSize);
  plan.augment = augmentOf(plan);
  resolveDevices(plan);
  resolveModel(plan);
  resolveSearch(plan);
  resolveBatch(plan);
  checkPlan(plan);
  resolveMemory(plan);
  return plan;
}

RunPlan planOfBatches(const Config& resolved, std::vector<int64_t> shares, int64_t images) {
  RunPlan plan;
  plan.config = resolved;
  plan.setup = setupOf(resolved);
  if (!resolved.input.data.empty()) plan.data = DatasetFacts{.info = {}, .images = images};
  plan.augment = augmentOf(plan);
  plan.graph = std::make_shared<const Graph>(graphOf(resolved));
  plan.globalBatch = std::accumulate(shares.begin(), shares.end(), int64_t{0});
  plan.shares = std::move(shares);
  return plan;
}

RunPlan withImageSize(RunPlan plan, int64_t pixels) {
  plan.config.network.imageSize = pixels;
  resolveModel(plan);
  return plan;
}

int64_t cacheBytesOfRank(const RunPlan& plan) {
  constexpr double gibibyte = 1024.0 * 1024 * 1024;
  return static_cast<int64_t>(plan.config.input.cacheGib * gibibyte) / plan.place.localSize;
}

bool servesAlone(const RunPlan& plan) { return servesAlone(plan.config, plan.place.rank); }

std::vector<int64_t> unequalShares(const RunPlan& plan) {
  const bool equal = std::ranges::all_of(plan.shares, [&](int64_t share) { return share == plan.shares.front(); });
  return equal ? std::vector<int64_t>() : plan.shares;
}

void checkMemory(const RunPlan& plan) {
  checkCache(plan);
  const int64_t ranks = plan.setup.onCpu() ? plan.place.localSize : 1;  // that share the memory
  const int64_t needed = ranks * plan.memory.total();
  if (plan.search || needed <= plan.availableBytes) return;
  const auto text = [](int64_t bytes) { return bytesText(static_cast<double>(bytes)); };
  throw UsageError(concat("--model=", plan.config.network.model, " --batch=", plan.config.step.batch, " with ",
                          ranks * plan.config.placement.replicas, " replicas needs about ", text(needed),
                          " of memory (activations ", text(ranks * plan.memory.activations), "), only ",
                          text(plan.availableBytes), " is available", memoryAdvice(plan.config)));
}

double deadlineSeconds(const Config& config) {
  if (config.measurement.deadline > 0) return config.measurement.deadline;
  if (config.training.epochs > 0) return std::numeric_limits<double>::infinity();
  if (config.measurement.steps > 0) return 600 + 30 * static_cast<double>(config.measurement.steps);
  return 120 + 4 * config.measurement.budget;
}

}  // namespace tandem
