#include "run/training/training_rules.h"

#include "base/catalog.h"
#include "base/text.h"
#include "config/option.h"
#include "config/training_texts.h"
#include "measure/metrics/evaluation.h"
#include "run/plan/rule_check.h"
#include "run/plan/rules.h"
#include "train/loss/loss.h"
#include "train/whitening.h"

namespace tandem {
namespace {

Breach strategyCanPause(const RunPlan& plan) {
  if (plan.setup.strategy->canPause) return std::nullopt;
  return concat(
      "--strategy=", optionsText(*plan.setup.strategy),
      ": a training is evaluated and saved between steps, which this strategy does not allow; those that do: ",
      thoseWith("--strategy", strategies(), &StrategyEntry::canPause));
}

Breach serversAreAmongTheReplicas(const RunPlan& plan) {
  const Config& config = plan.config;
  if (config.placement.servers == 0) return std::nullopt;
  return concat("--servers=", config.placement.servers,
                ": ranks that only serve are for tandem bench; in a training --server-ranks names those that serve");
}

Breach averageIsOnTheReplicas(const RunPlan& plan) {
  if (averageText(plan.config.step).empty() || !plan.setup.strategy->usesServer) return std::nullopt;
  return concat(averageText(plan.config.step), " with --strategy=", plan.config.exchange.strategy,
                ": the average lies on the server, and replicas are evaluated; use --strategy=replicated");
}

Breach whiteningIsTrained(const RunPlan& plan) {
  const double epochs = plan.config.training.whitenEpochs;
  if (epochs == 0 || !whiteningNodes(*plan.graph).empty()) return std::nullopt;
  return concat("--whiten-epochs=", epochs, " with --model=", plan.config.network.model,
                ": it has no whitening convolution; leave --whiten-epochs away");
}

Breach imagesComeFromHere(const RunPlan& plan) {
  if (plan.setup.source->stream == nullptr) return std::nullopt;
  return concat("--input=", plan.config.input.source,
                ": batches from outside have no epochs; a training reads --data, or synthetic images");
}

Breach resumeHasAFolder(const RunPlan& plan) {
  const Config::Training& training = plan.config.training;
  if (!training.checkpoint.empty()) return std::nullopt;
  if (plan.setup.resume->wanted) return concat("--resume=", training.resume, " needs --checkpoint=FOLDER");
  if (plan.setup.onNan->goesBack) return concat("--on-nan=", training.onNan, " needs --checkpoint=FOLDER");
  return std::nullopt;
}

Breach targetIsAMetric(const RunPlan& plan) {
  const auto target = parseTarget(plan.config.training.stopAt);
  if (!target || std::ranges::count(evaluationMetrics(), target->metric, &EvaluationMetric::name) > 0) return {};
  std::vector<std::string> names;
  for (const EvaluationMetric& metric : evaluationMetrics()) names.emplace_back(metric.name);
  return concat("--stop-at=", plan.config.training.stopAt, ": no metric is called so; valid: ", join(names, ", "));
}

/// The rest of a refusal of a metric; empty: evaluations of this network have it.
std::string faultOf(const EvaluationMetric& metric, const RunPlan& plan) {
  const bool flags = !labelsOf(*plan.graph).isOneClass();
  const int64_t classes = plan.config.network.classes;
  if (metric.isOf(flags, classes)) return {};
  std::vector<std::string> names;
  for (const EvaluationMetric& row : evaluationMetrics()) {
    if (row.isOf(flags, classes)) names.emplace_back(row.name);
  }
  return concat(": evaluations of ", classes, flags ? " flags" : " classes",
                " do not have it; valid: ", join(names, ", "));
}

Breach metricsAreOfTheHead(const RunPlan& plan) {
  const Config::Training& training = plan.config.training;
  if (lossOf(*plan.graph).judge == nullptr) return std::nullopt;
  if (plan.setup.best != nullptr) {
    const std::string fault = faultOf(*plan.setup.best, plan);
    if (!fault.empty()) return concat("--best=", training.best, fault);
  }
  const auto target = parseTarget(training.stopAt);
  if (!target) return std::nullopt;
  const std::string fault = faultOf(find(evaluationMetrics(), target->metric, "--stop-at"), plan);
  return fault.empty() ? Breach() : concat("--stop-at=", training.stopAt, fault);
}

Breach weightsAreComparedAtTheEnd(const RunPlan& plan) {
  if (plan.config.exchange.checkDrift == 0) return std::nullopt;
  return concat("--check-drift=", plan.config.exchange.checkDrift,
                ": a training compares the weights of its ranks at its end alone; leave --check-drift away");
}

Breach outputsAreEvaluated(const RunPlan& plan) {
  const Config::Training& training = plan.config.training;
  const bool nothing = training.validateOn == Config::noSplit || plan.config.input.data.empty();
  if (nothing && !training.stopAt.empty()) {
    return concat("--stop-at=", training.stopAt, " needs an evaluation, and there is none: give --data, and not ",
                  "--validate-on=", Config::noSplit);
  }
  if (nothing || lossOf(*plan.graph).judge != nullptr) return std::nullopt;
  return concat("--model=", plan.config.network.model,
                ": outputs of a detector are not evaluated; use --validate-on=", Config::noSplit);
}

/// The rest of a refusal of images of this size; empty: they can be trained on.
std::string faultOfSize(const RunPlan& plan, int64_t pixels) {
  const Config::Network& network = plan.config.network;
  if (pixels > network.imageSize) {
    return concat("it is more than --image-size=", network.imageSize, ", the size in evaluations; raise --image-size");
  }
  try {
    const RunPlan sized = withImageSize(plan, pixels);
    checkPlan(sized);
    const std::string node = differenceBesidesShapes(*plan.graph, *sized.graph);
    if (node.empty()) return {};
    return concat("--model=", network.model, " is made for one image size: its ", node, " is another one than with ",
                  network.imageSize, " pixels; leave --train-size away");
  } catch (const UsageError& error) {
    return error.what();
  }
}

Breach sizesCanBeTrained(const RunPlan& plan) {
  const Config::Training& training = plan.config.training;
  for (const SizeFrom& size : trainSizesOf(training)) {
    const std::string fault = faultOfSize(plan, size.pixels);
    if (!fault.empty()) return concat("--train-size=", training.trainSize, ": at ", size.pixels, " pixels: ", fault);
  }
  return std::nullopt;
}

constexpr Breach (*rulesInOrder[])(const RunPlan&) = {
    strategyCanPause,           serversAreAmongTheReplicas, averageIsOnTheReplicas, whiteningIsTrained,
    imagesComeFromHere,         resumeHasAFolder,           targetIsAMetric,        metricsAreOfTheHead,
    weightsAreComparedAtTheEnd, outputsAreEvaluated,        sizesCanBeTrained};

}  // namespace

void checkTraining(const RunPlan& plan) { requireAll(rulesInOrder, plan); }

}  // namespace tandem
