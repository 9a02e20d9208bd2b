#include <algorithm>

#include "base/error.h"
#include "base/text.h"
#include "config/device_set.h"
#include "config/head.h"
#include "config/network_path.h"
#include "config/option.h"

namespace tandem {
namespace {

using Breach = std::optional<std::string>;

Breach headAgreesWithClasses(const Config& config) {
  const HeadText head = headOf(config);
  if (head.outputs == 0 || config.network.classes == 0 || head.outputs == config.network.classes) return std::nullopt;
  return concat("--head=", config.network.head, " with --classes=", config.network.classes, ": one says ", head.outputs,
                " classes, the other ", config.network.classes, "; leave --classes away");
}

Breach replicasMatchDevices(const Config& config) {
  const auto devices = std::ssize(deviceIndices(config));
  if (replicaCount(config) == devices) return std::nullopt;
  return concat("--replicas=", config.placement.replicas, " with --devices=", config.placement.devices,
                ": a device holds one replica, so ", devices,
                " replicas are meant; leave --replicas out or name as many devices");
}

Breach nesterovNeedsMomentum(const Config& config) {
  if (!config.step.nesterov || config.step.momentum > 0) return std::nullopt;
  return "--nesterov needs --momentum above 0, as --momentum=0.9";
}

Breach recomputationNeedsBackward(const Config& config) {
  if (config.numerics.recompute == Config().numerics.recompute || !config.step.forwardOnly) return std::nullopt;
  return concat("--recompute=", config.numerics.recompute, " with ", optionWithoutTraining(config.step),
                ": without backward nothing is kept; leave one of them out");
}

Breach joinedStatisticsAreTrained(const Config& config) {
  if (!config.exchange.syncBatchNorm || !config.step.forwardOnly) return std::nullopt;
  return concat("--sync-batch-norm with ", optionWithoutTraining(config.step),
                ": forward alone reads running statistics; leave one of them out");
}

Breach stepsInFlightNeedGpus(const Config& config) {
  if (config.numerics.inFlight == Config().numerics.inFlight || !isOnCpu(config)) return std::nullopt;
  return concat("--in-flight=", config.numerics.inFlight,
                " does nothing with --devices=cpu, where a step is done when its call ", "returns; leave it away");
}

Breach weightsOptionsNeedWeights(const Config& config) {
  if (!config.network.weights.empty()) return std::nullopt;
  if (config.network.weightsMap != Config().network.weightsMap)
    return concat("--weights-map=", config.network.weightsMap, " needs --weights");
  if (isOnnxPath(config.network.model)) return std::nullopt;
  if (config.network.resetHead) return "--reset-head needs --weights; without it all values are initial ones";
  if (config.network.rejectNonfinite) return "--reject-nonfinite needs --weights";
  return std::nullopt;
}

Breach savedWeightsAreTrained(const Config& config) {
  if (config.output.saveWeights.empty() || !config.step.forwardOnly) return std::nullopt;
  return concat("--save-weights=", config.output.saveWeights, " with ", optionWithoutTraining(config.step),
                ": nothing is trained; leave one of them out");
}

Breach traceIsOfOneProfile(const Config& config) {
  if (config.output.trace.empty()) return std::nullopt;
  if (!config.measurement.profile)
    return concat("--trace=", config.output.trace, " needs --profile, which takes the steps apart");
  if (!config.measurement.compare) return std::nullopt;
  return concat("--trace=", config.output.trace,
                " with --compare: each of its runs would replace the file of the one before; ",
                "leave one of them out");
}

Breach repeatsReplaceNoFile(const Config& config) {
  if (config.measurement.repeats <= 1) return std::nullopt;
  const auto refuse = [&](std::string_view option, std::string_view why) {
    return concat("--repeats=", config.measurement.repeats, " with --", option, ": ", why, "; leave one of them out");
  };
  if (!config.output.saveWeights.empty()) return refuse("save-weights", "each run would replace the file");
  if (!config.output.trace.empty()) return refuse("trace", "each run would replace the file");
  if (config.measurement.compare) return refuse("compare", "it repeats until 3 % would be found");
  return std::nullopt;
}

Breach badImagesAreBorne(const Config& config) {
  const bool ends = config.inference.badImage == Config().inference.badImage;
  if (config.input.maxBad == Config().input.maxBad || !ends) return std::nullopt;
  return concat("--max-bad=", config.input.maxBad, " needs --bad-image=skip or --bad-image=zero");
}

Breach splitIsOfADataSet(const Config& config) {
  if (config.input.dataSplit == Config::automatic || !config.input.data.empty()) return std::nullopt;
  return concat("--data-split=", config.input.dataSplit, " needs --data, a data set with splits");
}

Breach mixedImagesAreTrained(const Config& config) {
  if (!mixes(config.step) || !config.step.forwardOnly || config.step.loaderOnly) return std::nullopt;
  return concat(mixingText(config.step), " with ", optionWithoutTraining(config.step),
                ": nothing is trained; leave one of them out");
}

constexpr Breach (*rulesInOrder[])(const Config&) = {
    headAgreesWithClasses,      replicasMatchDevices,  nesterovNeedsMomentum,     recomputationNeedsBackward,
    joinedStatisticsAreTrained, stepsInFlightNeedGpus, weightsOptionsNeedWeights, savedWeightsAreTrained,
    traceIsOfOneProfile,        repeatsReplaceNoFile,  badImagesAreBorne,         mixedImagesAreTrained,
    splitIsOfADataSet,
};

}  // namespace

void checkCombination(const Config& config) {
  for (const auto rule : rulesInOrder) {
    if (const Breach breach = rule(config)) throw UsageError(*breach);
  }
}

}  // namespace tandem
