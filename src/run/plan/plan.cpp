#include "run/plan/plan.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <set>

#include "base/catalog.h"
#include "config/device_set.h"
#include "config/head.h"
#include "config/option.h"
#include "data/dataset/dataset.h"
#include "data/loader/batch_maker.h"
#include "data/loader/batch_source.h"
#include "device/memory_layout.h"
#include "executor/compile/plan_description.h"
#include "executor/executor.h"
#include "executor/select/channel_padding.h"
#include "graph/operation.h"
#include "kernels/conv/convolution.h"
#include "machine/gpu/gpu_facts.h"
#include "models/model.h"
#include "optim/optimizer.h"
#include "run/outcome_of_exception.h"
#include "run/plan/cuda_graph_policy.h"
#include "run/plan/device_assignment.h"
#include "run/plan/select_kernels.h"
#include "strategy/strategy.h"
#include "train/loss/loss.h"

namespace tandem {
namespace {

void checkNames(const Config& config) {
  precisionOf(config);
  find(executors(), config.executor, "--executor");
  find(recomputes(), config.recompute, "--recompute");
  find(strategies(), config.strategy, "--strategy");
  find(lossPlacements(), config.lossAt, "--loss-at");
  find(augments(), config.augment, "--augment");
  find(schedules(), config.schedule, "--schedule");
  find(optimizers(), config.optimizer, "--optimizer");
  find(sources(), config.input, "--input");
}

std::shared_ptr<const Dataset> dataOf(const Config& config) {
  return config.data.empty() ? nullptr : openDataset(config.data);
}

Config resolved(Config config, const Dataset* data, int64_t largestReplicas) {
  const ModelFacts model = modelFacts(config.model);
  const HeadText head = headOf(config);
  if (head.outputs != 0) config.classes = head.outputs, config.head = head.kind;
  if (config.input == "auto") config.input = data == nullptr ? "device" : "queue";
  if (config.classes == 0) config.classes = data == nullptr ? model.classes : data->info().classes;
  if (config.imageSize == 0) config.imageSize = model.input.height;
  if (config.batch == 0) config.batch = model.batch;
  const double ownRate = find(optimizers(), config.optimizer, "--optimizer").learningRate;
  if (config.learningRate == 0) config.learningRate = ownRate != 0 ? ownRate : model.learningRate;
  config.replicas = replicaCount(config);
  if (config.coresPerReplica == 0 && config.devices == "cpu") {
    const auto usable = static_cast<int64_t>(readTopology().cores.size());
    config.coresPerReplica = std::max<int64_t>(1, usable / std::max(largestReplicas, config.replicas));
  }
  return config;
}

void checkAllReduce(const Config& config) {
  if (config.strategy != "replicated") return;
  const auto& entry = find(allReduces(), allReduceOf(config), "--all-reduce");
  const bool onCpu = config.devices == "cpu";
  const auto runs = [onCpu](const AllReduceEntry& row) { return onCpu ? row.onCpu : row.onCuda; };
  if (runs(entry)) return;
  std::vector<std::string> fitting;
  for (const auto& row : allReduces()) {
    if (runs(row)) fitting.emplace_back(row.name);
  }
  throw UsageError(concat("--all-reduce=", config.allReduce, " with --devices=", config.devices,
                          ": this algorithm does not run there; use one of ", join(fitting)));
}

void checkPrecision(const RunPlan& plan) {
  const auto require = [&](std::optional<int> capability) {
    const auto breach = whyNotOn(capability, precisionOf(plan.config));
    if (!breach) return;
    throw UsageError(
        concat("--precision=", plan.config.precision, " with --devices=", plan.config.devices, ": ", *breach));
  };
  if (plan.cudaDevices.empty()) require(std::nullopt);
  for (const int gpu : plan.cudaDevices) require(cudaFacts().gpus.at(static_cast<size_t>(gpu)).capability);
}

at::DeviceType deviceTypeOf(const Config& config) { return config.devices == "cpu" ? at::kCPU : at::kCUDA; }

void checkLayout(const Config& config) {
  const ExecutorEntry& executor = find(executors(), config.executor, "--executor");
  if (serves(executor, layoutOf(config), deviceTypeOf(config), precisionOf(config).compute)) return;
  throw UsageError(concat("--layout=", config.layout, " with --executor=", config.executor,
                          " --devices=", config.devices, " --precision=", config.precision,
                          ": it needs --executor=planned, --devices=cpu, --precision=fp32 or bf16 and a build with "
                          "oneDNN; use --layout=nhwc"));
}

void checkConvolution(const Config& config) {
  if (config.convolution == "auto" || config.convolution == convolutionAlgorithms().front().name) return;
  find(convolutionAlgorithms(), config.convolution, "--convolution");
  const ExecutorEntry& executor = find(executors(), config.executor, "--executor");
  if (choosesKernels(executor, layoutOf(config), deviceTypeOf(config), precisionOf(config).compute)) return;
  throw UsageError(concat("--convolution=", config.convolution, " with --executor=", config.executor,
                          " --devices=", config.devices, " --layout=", config.layout, " --precision=", config.precision,
                          ": it needs --executor=planned, --devices=cpu, a --layout other than nchw, --precision=fp32 "
                          "or bf16 and a build with oneDNN; use --convolution=auto"));
}

void checkPadding(const Config& config, const Graph& graph) {
  if (config.padImages == "auto") return;
  const ImagePaddingEntry& padding = find(imagePaddings(), config.padImages, "--pad-images");
  if (padding.multiple == 1 || canPadImages(graph)) return;
  throw UsageError(concat("--pad-images=", config.padImages, " with --model=", config.model,
                          ": its images are read by something else than convolutions without groups, which alone can "
                          "do with more channels; leave --pad-images away"));
}

void resolveBatch(RunPlan& plan) {
  const Config& config = plan.config;
  plan.replicaBatch = config.batch;
  if (config.scaling == "strong") {
    if (config.batch % config.replicas != 0) {
      throw UsageError(concat("--batch=", config.batch, " with --scaling=strong and ", config.replicas,
                              " replicas: the global batch must be a multiple of the number of replicas"));
    }
    plan.replicaBatch /= config.replicas;
  }
  plan.globalBatch = plan.replicaBatch * config.replicas;
  if (plan.replicaBatch % config.accumulate != 0) {
    throw UsageError(concat("--accumulate=", config.accumulate, ": a replica's batch of ", plan.replicaBatch,
                            " images cannot be cut into so many equal parts; take a divisor of it"));
  }
}

void checkClasses(const Config& config, const DatasetInfo& info) {
  if (config.classes >= info.classes) return;
  throw UsageError(concat("--classes=", config.classes, " with --data=", config.data, ": the data set has ",
                          info.classes, " classes; leave --classes away or give at least that many"));
}

void checkImages(const Config& config, const DatasetInfo& info) {
  if (info.height <= config.imageSize && info.width <= config.imageSize) return;
  throw UsageError(concat("--data=", config.data, ": images of ", info.height, 'x', info.width,
                          " do not fit the network's input of ", config.imageSize, 'x', config.imageSize,
                          "; raise --image-size or use another --model"));
}

void checkBatchNorm(const RunPlan& plan, const Graph& graph) {
  if (plan.config.forwardOnly) return;
  for (const Node& node : graph.nodes()) {
    const bool single = plan.replicaBatch / plan.config.accumulate * node.shape.height * node.shape.width == 1;
    if (node.operation->name != "batch_norm" || !single) continue;
    throw UsageError(concat("--batch=", plan.config.batch, " with --image-size=", plan.config.imageSize, ": ",
                            node.name, " of ", plan.config.model,
                            " would normalise a single value per channel, which has no "
                            "variance; raise --batch or --image-size"));
  }
}

void checkLabels(const RunPlan& plan, const Graph& graph) {
  const LabelKind &read = labelsOf(graph), &given = *plan.data->info().labels;
  if (read.name == given.name) return;
  throw UsageError(concat("--head=", plan.config.head, " with --data=", plan.config.data, ": ", graph.loss().name,
                          " needs labels of ", read.summary, ", the data set has ", given.summary,
                          "; leave --data or --head away"));
}

Graph resolveModel(RunPlan& plan) {
  const Config& config = plan.config;
  if (plan.data) {
    checkClasses(config, plan.data->info());
    checkImages(config, plan.data->info());
  }
  Graph graph = graphOf(config);
  if (plan.data) checkLabels(plan, graph);
  checkPadding(config, graph);
  checkBatchNorm(plan, graph);
  plan.loss = graph.loss().name;
  const ModelFacts facts = modelFacts(config.model);
  if (!facts.sha256.empty()) plan.network = facts.name, plan.networkSha256 = facts.sha256;
  plan.parameters = parameterCount(graph);
  plan.ownImageSize = facts.input.height;
  plan.forwardFlopsPerImage = forwardFlops(graph);
  return graph;
}

/// Of --pad-images; what "auto" comes to is measured later, on GPUs.
int64_t namedZeroChannels(const Config& config, const Graph& graph) {
  if (config.padImages == "auto" || !canPadImages(graph)) return 0;
  return zeroChannels(graph, find(imagePaddings(), config.padImages, "--pad-images"));
}

/// Where replicas share a memory: each its own, but owners update one for all replicas of a NUMA node.
int64_t parameterCopies(const RunPlan& plan) {
  if (!plan.cudaDevices.empty()) return 1;
  const bool owners =
      plan.config.strategy == "replicated" && find(allReduces(), allReduceOf(plan.config), "--all-reduce").ownersUpdate;
  if (!owners) return plan.config.replicas;
  return std::ssize(std::set<int>(plan.cores.nodeOf.begin(), plan.cores.nodeOf.end()));
}

void resolveActivations(RunPlan& plan, const Graph& graph) {
  const Config& config = plan.config;
  if (config.executor != "planned" || config.forwardOnly) return;
  KernelSelection kernels{&layoutOf(config), {}};  // blocks of channels keep as much
  kernels.zeroChannels = namedZeroChannels(config, graph);
  const ExecutorOptions options = executorOptions(
      kernels, precisionOf(config), find(recomputes(), config.recompute, "--recompute"), deviceTypeOf(config));
  const PlanDescription description = describePlan(graph, options, plan.replicaBatch / config.accumulate);
  plan.activationBytes = description.keptBytes;
  if (config.recompute == Config().recompute || description.segments > 1) return;
  plan.recomputeNote = concat("--recompute=", config.recompute, " computes nothing again: ", config.model,
                              " has no place where it would save memory");
}

void resolveMemory(RunPlan& plan, const Graph& graph) {
  resolveActivations(plan, graph);
  MemoryNeeds needs;
  needs.graph = &graph;
  needs.replicaBatch = plan.replicaBatch;
  needs.replicasPerDevice = plan.cudaDevices.empty() ? plan.config.replicas : 1;
  needs.parameterCopies = parameterCopies(plan);
  needs.keptBytes = plan.activationBytes;
  if (plan.data) {
    const DatasetInfo& info = plan.data->info();
    needs.datasetBytes = plan.data->size() * info.height * info.width * info.channels;
  }
  plan.memory = estimateMemory(plan.config, needs);
}

void checkMemory(const RunPlan& plan) {
  if (plan.memory.total() <= plan.availableBytes) return;
  const auto text = [](int64_t bytes) { return bytesText(static_cast<double>(bytes)); };
  throw UsageError(concat("--model=", plan.config.model, " --batch=", plan.config.batch, " with ", plan.config.replicas,
                          " replicas needs about ", text(plan.memory.total()), " of memory (activations ",
                          text(plan.memory.activations), "), only ", text(plan.availableBytes), " is available",
                          memoryAdvice(plan.config)));
}

BatchRange batchRange(const RunPlan& plan) {
  const Config& config = plan.config;
  BatchRange range{.guess = 1, .most = Config::largestBatch, .unit = config.accumulate, .bound = "--batch ends there"};
  if (plan.data && plan.data->size() / config.replicas < range.most) {
    range.most = plan.data->size() / config.replicas;
    range.bound = concat("--data has ", plan.data->size(), " images");
  }
  if (range.most >= range.unit) return range;
  throw UsageError(concat("--batch=max with --accumulate=", range.unit, " and ", config.replicas,
                          " replicas: each part needs an image and ", range.bound,
                          "; lower --accumulate or --replicas"));
}

/// A sixteenth below the largest batch for which the estimate, a straight line, has room. Estimates are some per cent
/// too low as often as too high; that is half of the search's first stride, so with an error of up to 5 % the first
/// probe fits and the second does not. Without it every second search would begin by using up the memory.
int64_t guessedBatch(RunPlan plan) {
  constexpr int64_t marginPart = 16;
  const BatchRange& range = *plan.search;
  const Graph graph = graphOf(plan.config);
  const auto bytesOf = [&](int64_t batch) {
    plan.replicaBatch = batch;
    resolveMemory(plan, graph);
    return plan.memory.total();
  };
  const int64_t first = bytesOf(range.unit), perUnit = std::max<int64_t>(1, bytesOf(2 * range.unit) - first);
  const int64_t room = 1 + (memoryToUse(plan.availableBytes) - first) / perUnit;
  return range.unit * std::clamp<int64_t>(room - room / marginPart, 1, range.most / range.unit);
}

void resolveSearch(RunPlan& plan) {
  if (plan.config.batch != Config::mostThatFits) return;
  plan.search = batchRange(plan);
  plan.config.batch = plan.search->guess = guessedBatch(plan);
}

}  // namespace

Graph graphOf(const Config& config) {
  const std::string kind = headOf(config).kind;
  return buildModel(config.model, {.classes = config.classes,
                                   .imageSize = config.imageSize,
                                   .loss = kind == Config().head ? nullptr : &lossOfHead(kind)});
}

const Precision& precisionOf(const Config& config) { return find(precisions(), config.precision, "--precision"); }

std::string_view allReduceOf(const Config& config) {
  if (config.allReduce != "auto") return config.allReduce;
  return config.devices == "cpu" ? "owner" : "nccl";
}

const LayoutEntry& layoutOf(const Config& config) {
  return config.layout == "auto" ? layouts().front() : find(layouts(), config.layout, "--layout");
}

Config resolveConfig(const Config& config, int64_t largestReplicas) {
  return resolved(config, dataOf(config).get(), largestReplicas);
}

RunPlan resolvePlan(const Config& config, int64_t largestReplicas, MemoryRule rule) {
  checkCombination(config);
  RunPlan plan;
  plan.data = dataOf(config);
  plan.config = resolved(config, plan.data.get(), largestReplicas);
  checkNames(plan.config);
  checkAllReduce(plan.config);
  checkLayout(plan.config);
  checkConvolution(plan.config);
  cudaGraphPolicy(plan.config);
  resolveDevices(plan);
  checkPrecision(plan);
  resolveSearch(plan);
  resolveBatch(plan);
  const Graph graph = resolveModel(plan);
  resolveMemory(plan, graph);
  if (rule == MemoryRule::estimate && !plan.search) checkMemory(plan);
  return plan;
}

double deadlineSeconds(const Config& config) {
  if (config.deadline > 0) return config.deadline;
  if (config.steps > 0) return 600 + 30 * static_cast<double>(config.steps);
  return 120 + 4 * config.budget;
}

}  // namespace tandem
