#include <algorithm>

#include "base/error.h"
#include "base/text.h"
#include "config/device_set.h"
#include "config/head.h"
#include "config/option.h"

namespace tandem {
namespace {

using Breach = std::optional<std::string>;

DeviceSet devicesOf(const Config& config) {
  const auto set = parseDeviceSet(config.devices);
  check(set.has_value(), "checkCombination: --devices was not checked");
  return *set;
}

Breach headAgreesWithClasses(const Config& config) {
  const HeadText head = headOf(config);
  if (head.outputs == 0 || config.classes == 0 || head.outputs == config.classes) return std::nullopt;
  return concat("--head=", config.head, " with --classes=", config.classes, ": one says ", head.outputs,
                " classes, the other ", config.classes, "; leave --classes away");
}

Breach parameterDeviceNeedsServer(const Config& config) {
  const bool changed = config.parameterDevice != Config().parameterDevice;
  if (!changed || config.strategy == "parameter_server") return std::nullopt;
  return concat("--parameter-device=", config.parameterDevice, " does nothing with --strategy=", config.strategy,
                "; only --strategy=parameter_server uses it");
}

Breach allReduceNeedsReplicated(const Config& config) {
  const bool changed = config.allReduce != Config().allReduce;
  if (!changed || config.strategy == "replicated") return std::nullopt;
  return concat("--all-reduce=", config.allReduce, " does nothing with --strategy=", config.strategy,
                "; only --strategy=replicated uses it");
}

Breach overlapIsOfAnExchange(const Config& config) {
  if (config.overlap == Config().overlap) return std::nullopt;
  if (config.forwardOnly) {
    return concat("--overlap=", config.overlap, " with --forward-only: without backward nothing is exchanged; leave ",
                  "one of them out");
  }
  if (config.strategy != "independent") return std::nullopt;
  return concat("--overlap=", config.overlap, " does nothing with --strategy=independent, which exchanges nothing; ",
                "leave one of them out");
}

Breach ncclNeedsGpus(const Config& config) {
  if (config.allReduce != "nccl" || !devicesOf(config).cpu) return std::nullopt;
  return "--all-reduce=nccl moves GPU memory only and --devices is cpu; use owner, shared, copy, ring or tree, "
         "or --devices=cuda:0+1";
}

Breach replicasMatchGpus(const Config& config) {
  const auto gpus = static_cast<int64_t>(devicesOf(config).cuda.size());
  if (gpus == 0 || replicaCount(config) == gpus) return std::nullopt;
  return concat("--replicas=", config.replicas, " with --devices=", config.devices, ": a GPU holds one replica, so ",
                gpus, " replicas are meant; leave --replicas out or name as many GPUs");
}

Breach parameterDeviceIsAReplica(const Config& config) {
  const auto name = parseDeviceName(config.parameterDevice);
  if (!name || config.strategy != "parameter_server") return std::nullopt;
  const DeviceSet set = devicesOf(config);
  const bool isCpuReplica = set.cpu && name->cpu && name->index < config.replicas;
  const bool isGpuReplica = !name->cpu && std::ranges::find(set.cuda, name->index) != set.cuda.end();
  if (isCpuReplica || isGpuReplica) return std::nullopt;
  return concat("--parameter-device=", config.parameterDevice, " is no device of this run (--devices=", config.devices,
                " --replicas=", replicaCount(config), "); devices count from 0");
}

Breach deviceInputHasNoData(const Config& config) {
  if (config.input != "device" || config.data.empty()) return std::nullopt;
  return concat("--input=device makes one synthetic batch and cannot read --data=", config.data,
                "; use --input=queue, or leave --data out");
}

Breach coefficientsFitTheOptimizer(const Config& config) {
  constexpr std::pair<double Config::*, std::string_view> adams[] = {{&Config::adamBeta1, "--adam-beta1"},
                                                                     {&Config::adamBeta2, "--adam-beta2"},
                                                                     {&Config::adamEpsilon, "--adam-epsilon"}};
  const bool sgd = config.optimizer == "sgd", adam = config.optimizer.starts_with("adam");
  const auto refuse = [&](std::string_view option, std::string_view users) {
    return concat(option, " does nothing with --optimizer=", config.optimizer, "; only ", users, " use it");
  };
  if (!sgd && config.nesterov) return refuse("--nesterov", "--optimizer=sgd");
  if (!sgd && config.momentum != Config().momentum) return refuse("--momentum", "--optimizer=sgd");
  for (const auto& [field, option] : adams) {
    if (!adam && config.*field != Config().*field) return refuse(option, "--optimizer=adam and adamw");
  }
  return std::nullopt;
}

Breach nesterovNeedsMomentum(const Config& config) {
  if (!config.nesterov || config.momentum > 0) return std::nullopt;
  return "--nesterov needs --momentum above 0, as --momentum=0.9";
}

Breach gatheredLossTrains(const Config& config) {
  if (!config.forwardOnly || config.lossAt != "gathered") return std::nullopt;
  return "--loss-at=gathered with --forward-only: without backward no gradient flows back; leave one of them out";
}

Breach partsNeedTheirOwnLoss(const Config& config) {
  if (config.accumulate == 1 || config.lossAt != "gathered") return std::nullopt;
  return concat("--accumulate=", config.accumulate, " with --loss-at=gathered: a batch in parts has its loss on the ",
                "replica; use --loss-at=replica");
}

Breach searchedBatchIsPerReplica(const Config& config) {
  if (config.batch != Config::mostThatFits || config.scaling != "strong") return std::nullopt;
  return "--batch=max with --scaling=strong: strong scaling keeps one global batch for all numbers of replicas, a "
         "search "
         "finds another for each; use --scaling=weak, or give a number";
}

Breach scheduleNeedsSteps(const Config& config) {
  if (config.steps > 0 || config.schedule.find("cosine") == std::string::npos) return std::nullopt;
  return concat("--schedule=", config.schedule, " needs --steps: it ends at the last step, as --steps=1000");
}

Breach recomputationNeedsAPlan(const Config& config) {
  if (config.recompute == Config().recompute || config.executor == "planned") return std::nullopt;
  return concat("--recompute=", config.recompute, " with --executor=", config.executor,
                ": only --executor=planned computes activations again; leave one of them out");
}

Breach paddingNeedsAPlan(const Config& config) {
  if (config.padImages == Config().padImages || config.padImages == "none" || config.executor == "planned") {
    return std::nullopt;
  }
  return concat("--pad-images=", config.padImages, " with --executor=", config.executor,
                ": only --executor=planned pads images; leave one of them out");
}

Breach recomputationNeedsBackward(const Config& config) {
  if (config.recompute == Config().recompute || !config.forwardOnly) return std::nullopt;
  return concat("--recompute=", config.recompute, " with --forward-only: without backward nothing is kept; leave one ",
                "of them out");
}

Breach stepsInFlightNeedGpus(const Config& config) {
  if (config.inFlight == Config().inFlight || !devicesOf(config).cpu) return std::nullopt;
  return concat("--in-flight=", config.inFlight,
                " does nothing with --devices=cpu, where a step is done when its call ", "returns; leave it away");
}

Breach weightsOptionsNeedWeights(const Config& config) {
  if (!config.weights.empty()) return std::nullopt;
  if (config.weightsMap != Config().weightsMap) return concat("--weights-map=", config.weightsMap, " needs --weights");
  if (config.resetHead) return "--reset-head needs --weights; without it all values are initial ones";
  if (config.rejectNonfinite) return "--reject-nonfinite needs --weights";
  return std::nullopt;
}

Breach savedWeightsAreTrained(const Config& config) {
  if (config.saveWeights.empty() || !config.forwardOnly) return std::nullopt;
  return concat("--save-weights=", config.saveWeights,
                " with --forward-only: nothing is trained; leave one of them out");
}

Breach traceIsOfOneProfile(const Config& config) {
  if (config.trace.empty()) return std::nullopt;
  if (!config.profile) return concat("--trace=", config.trace, " needs --profile, which takes the steps apart");
  if (!config.compare) return std::nullopt;
  return concat("--trace=", config.trace,
                " with --compare: each of its runs would replace the file of the one before; ",
                "leave one of them out");
}

constexpr Breach (*rulesInOrder[])(const Config&) = {
    headAgreesWithClasses,   parameterDeviceNeedsServer, allReduceNeedsReplicated,  ncclNeedsGpus,
    replicasMatchGpus,       parameterDeviceIsAReplica,  deviceInputHasNoData,      coefficientsFitTheOptimizer,
    nesterovNeedsMomentum,   gatheredLossTrains,         partsNeedTheirOwnLoss,     scheduleNeedsSteps,
    recomputationNeedsAPlan, recomputationNeedsBackward, stepsInFlightNeedGpus,     weightsOptionsNeedWeights,
    savedWeightsAreTrained,  traceIsOfOneProfile,        searchedBatchIsPerReplica, paddingNeedsAPlan,
    overlapIsOfAnExchange,
};

}  // namespace

void checkCombination(const Config& config) {
  for (const auto rule : rulesInOrder) {
    if (const Breach breach = rule(config)) throw UsageError(*breach);
  }
}

}  // namespace tandem
