#include "engine/plan.h"

#include <algorithm>
#include <memory>

#include "base/catalog.h"
#include "config/device_set.h"
#include "config/head.h"
#include "config/option.h"
#include "data/batch_maker.h"
#include "data/dataset.h"
#include "data/source.h"
#include "device/layout.h"
#include "device/precision.h"
#include "engine/loss.h"
#include "engine/replica_devices.h"
#include "executor/executor.h"
#include "executor/plan_description.h"
#include "graph/operation.h"
#include "kernels/convolution.h"
#include "models/model.h"
#include "optim/optimizer.h"
#include "strategy/strategy.h"

namespace tandem {
namespace {

void checkNames(const Config& config) {
  find(precisions(), config.precision, "--precision");
  find(executors(), config.executor, "--executor");
  find(recomputes(), config.recompute, "--recompute");
  find(strategies(), config.strategy, "--strategy");
  find(lossPlaces(), config.lossAt, "--loss-at");
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

at::DeviceType deviceTypeOf(const Config& config) { return config.devices == "cpu" ? at::kCPU : at::kCUDA; }

void checkLayout(const Config& config) {
  if (serves(find(executors(), config.executor, "--executor"), layoutOf(config), deviceTypeOf(config))) return;
  throw UsageError(concat("--layout=", config.layout, " with --executor=", config.executor,
                          " --devices=", config.devices,
                          ": it needs --executor=planned, --devices=cpu and a build with oneDNN; use --layout=nhwc"));
}

void checkConvolution(const Config& config) {
  if (config.convolution == "auto" || config.convolution == convolutionAlgorithms().front().name) return;
  find(convolutionAlgorithms(), config.convolution, "--convolution");
  const ExecutorEntry& executor = find(executors(), config.executor, "--executor");
  if (choosesKernels(executor, layoutOf(config), deviceTypeOf(config))) return;
  throw UsageError(concat("--convolution=", config.convolution, " with --executor=", config.executor,
                          " --devices=", config.devices, " --layout=", config.layout,
                          ": it needs --executor=planned, --devices=cpu, a --layout other than nchw and a build with "
                          "oneDNN; use --convolution=auto"));
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
  checkBatchNorm(plan, graph);
  plan.loss = graph.loss().name;
  const ModelFacts facts = modelFacts(config.model);
  if (!facts.sha256.empty()) plan.network = facts.name, plan.networkSha256 = facts.sha256;
  plan.parameters = parameterCount(graph);
  plan.ownImageSize = facts.input.height;
  plan.forwardFlopsPerImage = forwardFlops(graph);
  return graph;
}

void resolveActivations(RunPlan& plan, const Graph& graph) {
  const Config& config = plan.config;
  if (config.executor != "planned" || config.forwardOnly) return;
  const PlanDescription description =
      describePlan(graph,
                   {.compute = find(precisions(), config.precision, "--precision").compute,
                    .layout = layoutOf(config),  // blocks of channels keep as much
                    .device = deviceTypeOf(config),
                    .recompute = find(recomputes(), config.recompute, "--recompute")},
                   plan.replicaBatch / config.accumulate);
  plan.activationBytes = description.keptBytes;
  plan.activationBytesWithout = description.keptWithoutBytes;
  if (config.recompute == Config().recompute || description.segments > 1) return;
  plan.recomputeNote = concat("--recompute=", config.recompute, " computes nothing again: ", config.model,
                              " has no place where it would save memory");
}

void resolveMemory(RunPlan& plan, const Graph& graph) {
  MemoryNeeds needs;
  needs.graph = &graph;
  needs.replicaBatch = plan.replicaBatch;
  needs.replicasPerDevice = plan.cudaDevices.empty() ? plan.config.replicas : 1;
  if (plan.activationBytes > 0) {
    needs.keptShare = static_cast<double>(plan.activationBytes) / static_cast<double>(plan.activationBytesWithout);
  }
  if (plan.data) {
    const DatasetInfo& info = plan.data->info();
    needs.datasetBytes = plan.data->size() * info.height * info.width * info.channels;
  }
  plan.memory = estimateMemory(plan.config, needs);
  if (plan.memory.total() <= plan.availableBytes) return;
  const auto text = [](int64_t bytes) { return bytesText(static_cast<double>(bytes)); };
  throw UsageError(
      concat("--model=", plan.config.model, " --batch=", plan.config.batch, " with ", plan.config.replicas,
             " replicas needs about ", text(plan.memory.total()), " of memory (activations ",
             text(plan.memory.activations), "), only ", text(plan.availableBytes),
             " is available; lower --batch, --image-size or --replicas, or try --accumulate or --recompute"));
}

}  // namespace

Graph graphOf(const Config& config) {
  const std::string kind = headOf(config).kind;
  return buildModel(config.model, {.classes = config.classes,
                                   .imageSize = config.imageSize,
                                   .loss = kind == Config().head ? nullptr : &lossOfHead(kind)});
}

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

RunPlan resolvePlan(const Config& config, int64_t largestReplicas) {
  checkCombination(config);
  RunPlan plan;
  plan.data = dataOf(config);
  plan.config = resolved(config, plan.data.get(), largestReplicas);
  checkNames(plan.config);
  checkAllReduce(plan.config);
  checkLayout(plan.config);
  checkConvolution(plan.config);
  resolveDevices(plan);
  resolveBatch(plan);
  const Graph graph = resolveModel(plan);
  resolveActivations(plan, graph);
  resolveMemory(plan, graph);
  return plan;
}

double deadlineSeconds(const Config& config) {
  if (config.deadline > 0) return config.deadline;
  if (config.steps > 0) return 600 + 30 * static_cast<double>(config.steps);
  return 120 + 4 * config.budget;
}

}  // namespace tandem
