#include "run/plan/rules.h"

#include <algorithm>
#include <optional>
#include <span>

#include "base/text.h"
#include "config/device_set.h"
#include "graph/operation.h"
#include "machine/gpu/gpu_facts.h"
#include "run/plan/cuda_graph_policy.h"

namespace tandem {
namespace {

/// The message of a broken rule, with the values and the remedy; empty if the rule holds.
using Breach = std::optional<std::string>;

/// "--executor=planned", "--optimizer=adam and adamw": the rows whose field is true.
template <class Entry>
std::string thoseWith(std::string_view option, std::span<const Entry> catalog, bool Entry::*field) {
  std::vector<std::string> names;
  for (const Entry& entry : catalog) {
    if (entry.*field) names.emplace_back(entry.name);
  }
  const std::string last = names.back();
  names.pop_back();
  return concat(option, '=', join(names), names.empty() ? "" : " and ", last);
}

std::string plannedOnes() { return thoseWith("--executor", executors(), &ExecutorEntry::planned); }

Breach parameterDeviceIsUsed(const Config& config, const Setup& setup) {
  const bool changed = config.parameterDevice != Config().parameterDevice;
  if (!changed || setup.strategy->usesParameterDevice) return std::nullopt;
  return concat("--parameter-device=", config.parameterDevice, " does nothing with --strategy=", config.strategy,
                "; only ", thoseWith("--strategy", strategies(), &StrategyEntry::usesParameterDevice), " uses it");
}

Breach allReduceIsUsed(const Config& config, const Setup& setup) {
  const bool changed = config.allReduce != Config().allReduce;
  if (!changed || setup.strategy->usesAllReduce) return std::nullopt;
  return concat("--all-reduce=", config.allReduce, " does nothing with --strategy=", config.strategy, "; only ",
                thoseWith("--strategy", strategies(), &StrategyEntry::usesAllReduce), " uses it");
}

Breach allReduceRunsThere(const Config& config, const Setup& setup) {
  const auto runsOn = setup.onCpu() ? &AllReduceEntry::onCpu : &AllReduceEntry::onCuda;
  if (!setup.strategy->usesAllReduce || setup.allReduce->*runsOn) return std::nullopt;
  return concat(
      "--all-reduce=", config.allReduce, " with --devices=", config.devices,
      ": this algorithm does not run there; those that do: ", thoseWith("--all-reduce", allReduces(), runsOn));
}

Breach parameterDeviceIsAReplica(const Config& config, const Setup& setup) {
  const auto name = parseDeviceName(config.parameterDevice);
  if (!name || !setup.strategy->usesParameterDevice) return std::nullopt;
  const DeviceSet set = parseDeviceSet(config.devices).value();
  const bool isCpuReplica = set.cpu && name->cpu && name->index < config.replicas;
  const bool isGpuReplica = !name->cpu && std::ranges::find(set.cuda, name->index) != set.cuda.end();
  if (isCpuReplica || isGpuReplica) return std::nullopt;
  return concat("--parameter-device=", config.parameterDevice, " is no device of this run (--devices=", config.devices,
                " --replicas=", replicaCount(config), "); devices count from 0");
}

Breach inputReadsTheData(const Config& config, const Setup& setup) {
  if (setup.source->realData || config.data.empty()) return std::nullopt;
  return concat("--input=", setup.source->name, " makes synthetic images and cannot read --data=", config.data,
                "; leave one of them out");
}

Breach coefficientsAreUsed(const Config& config, const Setup& setup) {
  constexpr std::pair<double Config::*, std::string_view> betas[] = {{&Config::adamBeta1, "--adam-beta1"},
                                                                     {&Config::adamBeta2, "--adam-beta2"},
                                                                     {&Config::adamEpsilon, "--adam-epsilon"}};
  const auto refuse = [&](std::string_view option, bool OptimizerEntry::*users) {
    return concat(option, " does nothing with --optimizer=", config.optimizer, "; only ",
                  thoseWith("--optimizer", optimizers(), users), " use it");
  };
  const bool momentum = setup.optimizer->usesMomentum;
  if (!momentum && config.nesterov) return refuse("--nesterov", &OptimizerEntry::usesMomentum);
  if (!momentum && config.momentum != Config().momentum) return refuse("--momentum", &OptimizerEntry::usesMomentum);
  for (const auto& [field, option] : betas) {
    const bool changed = config.*field != Config().*field;
    if (changed && !setup.optimizer->usesBetas) return refuse(option, &OptimizerEntry::usesBetas);
  }
  return std::nullopt;
}

Breach gatheredLossTrains(const Config& config, const Setup& setup) {
  if (!config.forwardOnly || !setup.lossPlacement->gathered) return std::nullopt;
  return concat("--loss-at=", config.lossAt,
                " with --forward-only: without backward no gradient flows back; leave one of them out");
}

Breach partsHaveTheirOwnLoss(const Config& config, const Setup& setup) {
  if (config.accumulate == 1 || !setup.lossPlacement->gathered) return std::nullopt;
  return concat("--accumulate=", config.accumulate, " with --loss-at=", config.lossAt,
                ": a batch in parts has its loss on the replica; use --loss-at=", Config().lossAt);
}

Breach searchedBatchIsPerReplica(const Config& config, const Setup& setup) {
  if (config.batch != Config::mostThatFits || !setup.scaling->batchIsGlobal) return std::nullopt;
  return concat("--batch=max with --scaling=", config.scaling, ": it keeps one global batch for all numbers of ",
                "replicas, a search finds another for each; use --scaling=weak, or give a number");
}

Breach scheduleKnowsItsEnd(const Config& config, const Setup& setup) {
  if (config.steps > 0 || !setup.schedule->needsTotal) return std::nullopt;
  return concat("--schedule=", config.schedule, " needs --steps: it ends at the last step, as --steps=1000");
}

Breach recomputationHasAPlan(const Config& config, const Setup& setup) {
  if (config.recompute == Config().recompute || setup.executor->planned) return std::nullopt;
  return concat("--recompute=", config.recompute, " with --executor=", config.executor, ": only ", plannedOnes(),
                " computes activations again; leave one of them out");
}

Breach paddingHasAPlan(const Config& config, const Setup& setup) {
  if (setup.padding == nullptr || setup.padding->multiple == 1 || setup.executor->planned) return std::nullopt;
  return concat("--pad-images=", config.padImages, " with --executor=", config.executor, ": only ", plannedOnes(),
                " pads images; leave one of them out");
}

Breach overlapIsOfAnExchange(const Config& config, const Setup& setup) {
  if (config.overlap == Config().overlap) return std::nullopt;
  if (config.forwardOnly) {
    return concat("--overlap=", config.overlap, " with --forward-only: without backward nothing is exchanged; leave ",
                  "one of them out");
  }
  if (setup.strategy->exchange != Exchange::none) return std::nullopt;
  return concat("--overlap=", config.overlap, " does nothing with --strategy=", config.strategy,
                ", which exchanges nothing; leave one of them out");
}

Breach layoutIsServed(const Config& config, const Setup& setup) {
  if (serves(*setup.executor, setup.firstLayout(), setup.device, setup.precision->compute)) return std::nullopt;
  return concat(
      "--layout=", config.layout, " with --executor=", config.executor, " --devices=", config.devices,
      " --precision=", config.precision, ": it needs ", plannedOnes(),
      ", --devices=cpu, --precision=fp32 or bf16 and a build with oneDNN; use --layout=", layouts().front().name);
}

Breach convolutionIsServed(const Config& config, const Setup& setup) {
  if (setup.convolution == nullptr || setup.convolution == &convolutionAlgorithms().front()) return std::nullopt;
  if (choosesKernels(*setup.executor, setup.firstLayout(), setup.device, setup.precision->compute)) return std::nullopt;
  return concat("--convolution=", config.convolution, " with --executor=", config.executor,
                " --devices=", config.devices, " --layout=", config.layout, " --precision=", config.precision,
                ": it needs ", plannedOnes(), ", --devices=cpu, a --layout other than nchw, --precision=fp32 or bf16 ",
                "and a build with oneDNN; use --convolution=", Config::automatic);
}

Breach graphCanBeCaptured(const Config& config, const Setup& setup) {
  const CudaGraphPolicy policy = cudaGraphPolicy(config, setup);
  if (policy.on || !setup.cudaGraph->required) return std::nullopt;
  return concat("--cuda-graph=", config.cudaGraph, ": ", policy.why,
                ", and a step must be the same work each time; use --cuda-graph=", Config::automatic);
}

constexpr Breach (*setupRules[])(const Config&, const Setup&) = {
    parameterDeviceIsUsed,     allReduceIsUsed,    parameterDeviceIsAReplica, inputReadsTheData,
    coefficientsAreUsed,       gatheredLossTrains, partsHaveTheirOwnLoss,     scheduleKnowsItsEnd,
    recomputationHasAPlan,     paddingHasAPlan,    overlapIsOfAnExchange,     allReduceRunsThere,
    searchedBatchIsPerReplica, layoutIsServed,     convolutionIsServed,       graphCanBeCaptured,
};

Breach devicesServeThePrecision(const RunPlan& plan) {
  std::vector<std::optional<int>> capabilities;  // one per device; empty for a CPU
  if (plan.cudaDevices.empty()) capabilities.emplace_back();
  for (const int gpu : plan.cudaDevices) {
    capabilities.emplace_back(cudaFacts().gpus.at(static_cast<size_t>(gpu)).capability);
  }
  for (const auto& capability : capabilities) {
    const auto breach = whyNotOn(capability, *plan.setup.precision);
    if (!breach) continue;
    return concat("--precision=", plan.config.precision, " with --devices=", plan.config.devices, ": ", *breach);
  }
  return std::nullopt;
}

Breach batchIsSharedOut(const RunPlan& plan) {
  const Config& config = plan.config;
  if (!plan.setup.scaling->batchIsGlobal || config.batch % config.replicas == 0) return std::nullopt;
  return concat("--batch=", config.batch, " with --scaling=", config.scaling, " and ", config.replicas,
                " replicas: the global batch must be a multiple of the number of replicas");
}

Breach batchIsCutIntoEqualParts(const RunPlan& plan) {
  if (plan.replicaBatch % plan.config.accumulate == 0) return std::nullopt;
  return concat("--accumulate=", plan.config.accumulate, ": a replica's batch of ", plan.replicaBatch,
                " images cannot be cut into so many equal parts; take a divisor of it");
}

Breach classesHoldTheDatas(const RunPlan& plan) {
  if (!plan.data || plan.config.classes >= plan.data->info.classes) return std::nullopt;
  return concat("--classes=", plan.config.classes, " with --data=", plan.config.data, ": the data set has ",
                plan.data->info.classes, " classes; leave --classes away or give at least that many");
}

Breach imagesFitTheInput(const RunPlan& plan) {
  const Config& config = plan.config;
  if (!plan.data) return std::nullopt;
  const DatasetInfo& info = plan.data->info;
  if (info.height <= config.imageSize && info.width <= config.imageSize) return std::nullopt;
  return concat("--data=", config.data, ": images of ", info.height, 'x', info.width,
                " do not fit the network's input of ", config.imageSize, 'x', config.imageSize,
                "; raise --image-size or use another --model");
}

Breach labelsFitTheLoss(const RunPlan& plan) {
  if (!plan.data) return std::nullopt;
  const LabelKind &read = labelsOf(*plan.graph), &given = *plan.data->info.labels;
  if (read.name == given.name) return std::nullopt;
  return concat("--head=", plan.config.head, " with --data=", plan.config.data, ": ", plan.graph->loss().name,
                " needs labels of ", read.summary, ", the data set has ", given.summary,
                "; leave --data or --head away");
}

Breach imagesCanBePadded(const RunPlan& plan) {
  const ImagePaddingEntry* const padding = plan.setup.padding;
  if (padding == nullptr || padding->multiple == 1 || canPadImages(*plan.graph)) return std::nullopt;
  return concat("--pad-images=", plan.config.padImages, " with --model=", plan.config.model,
                ": its images are read by something else than convolutions without groups, which alone can do with ",
                "more channels; leave --pad-images away");
}

Breach batchNormHasSeveralValues(const RunPlan& plan) {
  if (plan.config.forwardOnly) return std::nullopt;
  const int64_t images = plan.replicaBatch / plan.config.accumulate;
  for (const Node& node : plan.graph->nodes()) {
    if (!node.operation->traits.batchNorm || images * node.shape.height * node.shape.width > 1) continue;
    return concat("--batch=", plan.config.batch, " with --image-size=", plan.config.imageSize, ": ", node.name, " of ",
                  plan.config.model, " would normalise a single value per channel, which has no variance; raise ",
                  "--batch or --image-size");
  }
  return std::nullopt;
}

constexpr Breach (*planRules[])(const RunPlan&) = {
    devicesServeThePrecision, batchIsSharedOut, batchIsCutIntoEqualParts, classesHoldTheDatas,
    imagesFitTheInput,        labelsFitTheLoss, imagesCanBePadded,        batchNormHasSeveralValues,
};

}  // namespace

void checkSetup(const Config& config, const Setup& setup) {
  for (const auto rule : setupRules) {
    if (const Breach breach = rule(config, setup)) throw UsageError(*breach);
  }
}

void checkPlan(const RunPlan& plan) {
  for (const auto rule : planRules) {
    if (const Breach breach = rule(plan)) throw UsageError(*breach);
  }
}

}  // namespace tandem
