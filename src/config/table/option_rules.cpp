#include "config/table/option_rules.h"

#include "base/number.h"
#include "config/device_set.h"
#include "config/head.h"
#include "config/split.h"
#include "config/training_texts.h"
#include "trace/fault.h"

namespace tandem::rules {
namespace {

constexpr int64_t largestWarmup = 1'000'000'000;
constexpr int64_t largestBucketMib = 1 << 20;

bool isWholeNumberUpTo(const std::string& text, int64_t high) { return numberWithin(text, 0, high).has_value(); }

}  // namespace

Breach bucket(double mebibytes) {
  const bool holdsAValue = mebibytes * (1 << 20) >= 4;
  if (!holdsAValue) return "must be above 0 (a bucket holds at least one value of 4 bytes)";
  if (mebibytes > largestBucketMib) return concat("must be at most ", largestBucketMib);
  return std::nullopt;
}

Breach devices(const Config& config) {
  if (config.placement.devices == Config::automatic || parseDeviceSet(config.placement.devices)) return std::nullopt;
  return "must be auto, cpu, cuda or different devices of one kind joined by '+', as cuda:0+1 or cpu:0+1; a comma "
         "separates points of a sweep";
}

Breach parameterDevice(const Config& config) {
  const std::string& place = config.exchange.parameterDevice;
  if (place == "cpu" || place == "device" || parseDeviceName(place)) return std::nullopt;
  return "must be cpu, device or the name of one device, as cpu:0 or cuda:1";
}

Breach split(const Config& config) {
  if (parseSplit(config.step.split)) return std::nullopt;
  return "must be equal, measured or numbers above 0, one for each replica, as 3:1";
}

Breach head(const Config& config) {
  const auto head = parseHead(config.network.head);
  if (!head) return "must be a kind of head, or the number of outputs and a kind, as sigmoid or 14xsigmoid";
  if (head->outputs > mostClasses) return concat("must have at most ", mostClasses, " outputs");
  return std::nullopt;
}

Breach warmup(const Config& config) {
  if (config.measurement.warmup == Config::automatic || isWholeNumberUpTo(config.measurement.warmup, largestWarmup))
    return std::nullopt;
  return concat("must be auto or a number of steps from 0 to ", largestWarmup);
}

Breach out(const Config& config) {
  if (config.output.out.empty()) return "must name a file";
  if (config.output.out == "-") return "must name a file; --format=json prints records on standard output";
  return std::nullopt;
}

Breach budget(const Config& config) {
  constexpr double longest = 1e9;
  if (config.measurement.budget > 0 && config.measurement.budget <= longest) return std::nullopt;
  return "must be above 0, and at most 1000000000";
}

Breach saveWeights(const Config& config) {
  if (config.output.saveWeights.empty() || config.output.saveWeights.ends_with(".safetensors")) return std::nullopt;
  return "must end in .safetensors, the one format written";
}

Breach saveScores(const Config& config) {
  if (config.training.saveScores.empty() || config.training.saveScores.ends_with(".safetensors")) return std::nullopt;
  return "must end in .safetensors, the one format written";
}

Breach stopAt(const Config& config) {
  if (config.training.stopAt.empty() || parseTarget(config.training.stopAt)) return std::nullopt;
  return "must be the name of a metric and a number, as accuracy:0.935";
}

Breach lrSteps(const Config& config) {
  if (config.training.lrSteps.empty() || parseLrSteps(config.training.lrSteps)) return std::nullopt;
  return "must be numbers of epochs above 0 that grow, as 30+60+80";
}

Breach trainSize(const Config& config) {
  if (config.training.trainSize.empty() || parseTrainSize(config.training.trainSize)) return std::nullopt;
  return concat("must be sizes from ", leastImageSize, " to ", mostImageSize,
                " pixels, each after the first with the epochs before it, which grow, as 128+160@6+192@12");
}

Breach trace(const Config& config) {
  if (config.output.trace.empty() || config.output.trace.ends_with(".pftrace")) return std::nullopt;
  return "must end in .pftrace, so that no other file is replaced by mistake";
}

Breach page(const Config& config) {
  if (config.output.page.empty() || config.output.page.ends_with(".html")) return std::nullopt;
  return "must end in .html, so that no other file is replaced by mistake";
}

Breach inject(const Config& config) {
  if (config.measurement.inject.empty()) return std::nullopt;
  const std::string breach = breachOfFault(config.measurement.inject);
  return breach.empty() ? std::nullopt : std::optional(breach);
}

}  // namespace tandem::rules
