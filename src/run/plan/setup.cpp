#include "run/plan/setup.h"

#include <algorithm>

#include "base/catalog.h"
#include "base/text.h"
#include "config/by_size.h"
#include "config/device_set.h"
#include "config/training_texts.h"

namespace tandem {
namespace {

/// The row of that name; for "auto" the first row of the catalog that `serves` accepts.
template <class Entry, class Serves>
const Entry& rowOrFirst(std::span<const Entry> catalog, const std::string& name, std::string_view option,
                        const Serves& serves) {
  if (name != Config::automatic) return find(catalog, name, option);
  const auto row = std::ranges::find_if(catalog, serves);
  check(row != catalog.end(), "no row of a catalog serves this machine");
  return *row;
}

/// The row of that name; null for "auto".
template <class Entry>
const Entry* rowUnlessAuto(std::span<const Entry> catalog, const std::string& name, std::string_view option) {
  return name == Config::automatic ? nullptr : &find(catalog, name, option);
}

/// That of --precision, with gradients in the type of --gradient-precision.
const Precision& precisionOf(const Config& config) {
  const Precision& precision = find(precisions(), config.numerics.precision, "--precision");
  const std::string& gradients = config.exchange.gradientPrecision;
  if (gradients == Config::automatic) return precision;
  return withGradients(precision, find(gradientPrecisions(), gradients, "--gradient-precision"));
}

AllReduceBySize allReduceOf(const Config& config, const StrategyEntry& strategy) {
  const auto serves = [&, field = isOnCpu(config) ? &AllReduceEntry::onCpu : &AllReduceEntry::onCuda](
                          const AllReduceEntry& row) { return row.*field && accepts(strategy, row); };
  constexpr std::string_view option = "--all-reduce";
  const auto given = parseBySize(config.exchange.allReduce);
  if (!given) throw UsageError(concat(option, '=', config.exchange.allReduce, ": it is no list of names by size"));
  AllReduceBySize::Rows rows;
  for (const std::string& name : given->names) rows.push_back(&rowOrFirst(allReduces(), name, option, serves));
  return {std::move(rows), given->upTo};
}

std::optional<DataSplit> validationOf(const Config& config) {
  const std::string& asked = config.training.validateOn;
  if (asked == Config::automatic || asked == Config::noSplit) return std::nullopt;
  return find(dataSplits(), asked, "--validate-on").split;
}

}  // namespace

Setup setupOf(const Config& config) {
  const bool onCpu = isOnCpu(config), hasData = !config.input.data.empty();
  const StrategyEntry& strategy = strategyInMode(config.exchange.strategy, config.exchange.serverMode);
  const std::string& input = config.input.source;
  const size_t colon = input.find(':');
  const auto delivers = [&](const SourceEntry& row) { return row.realData == hasData; };
  return {.device = onCpu ? at::kCPU : at::kCUDA,
          .executor = &find(executors(), config.numerics.executor, "--executor"),
          .precision = &precisionOf(config),
          .layout = rowUnlessAuto(layouts(), config.numerics.layout, "--layout"),
          .convolution = rowUnlessAuto(convolutionAlgorithms(), config.numerics.convolution, "--convolution"),
          .padding = rowUnlessAuto(imagePaddings(), config.numerics.padImages, "--pad-images"),
          .normalization = rowUnlessAuto(normalizations(), config.inference.normalization, "--normalization"),
          .views = &find(evaluationViews(), config.inference.views, "--views"),
          .decoding = &find(decodings(), config.input.decode, "--decode"),
          .loader = &find(loaders(), config.input.loader, "--loader"),
          .dataSplit = rowUnlessAuto(dataSplits(), config.input.dataSplit, "--data-split"),
          .recompute = &find(recomputes(), config.numerics.recompute, "--recompute"),
          .cudaGraph = &find(cudaGraphs(), config.numerics.cudaGraph, "--cuda-graph"),
          .strategy = &strategy,
          .allReduce = allReduceOf(config, strategy),
          .compression = &find(compressions(), config.exchange.compression, "--compression"),
          .overlap = &find(overlaps(), config.exchange.overlap, "--overlap"),
          .lossPlacement = &find(lossPlacements(), config.exchange.lossAt, "--loss-at"),
          .source = &rowOrFirst(sources(), input.substr(0, colon), "--input", delivers),
          .sourceArgument = colon == input.npos ? "" : input.substr(colon + 1),
          .optimizer = &find(optimizers(), config.step.optimizer, "--optimizer"),
          .schedule = &find(schedules(), config.step.schedule, "--schedule"),
          .scaling = &find(scalings(), config.measurement.scaling, "--scaling"),
          .verify = &find(verifications(), config.measurement.verify, "--verify"),
          .validation = validationOf(config),
          .best = rowUnlessAuto(evaluationMetrics(), config.training.best, "--best"),
          .lrScaling = &find(lrScalings(), config.training.lrScaling, "--lr-scaling"),
          .decayed = &find(decayedParameters(), config.step.decayed, "--decayed"),
          .frozen = &find(frozenParameters(), config.step.frozen, "--frozen"),
          .resume = &find(resumes(), config.training.resume, "--resume"),
          .onNan = &find(nanPolicies(), config.training.onNan, "--on-nan")};
}

DataSplit splitOf(const Setup& setup) {
  return setup.dataSplit == nullptr ? DataSplit::training : setup.dataSplit->split;
}

const Normalization* normalizationOf(const Setup& setup) {
  return setup.normalization == nullptr ? nullptr : &setup.normalization->normalization;
}

namespace {

/// How long the course is, a measurement knows from its steps; a training of epochs says it when it knows its images.
RateCourse courseOf(const Config& config) {
  const Config::Training& training = config.training;
  return {.totalSteps = config.measurement.steps,
          .warmupEpochs = training.warmupEpochs,
          .warmupFrom = training.warmupFrom,
          .fallsAt = training.lrSteps.empty() ? std::vector<double>() : parseLrSteps(training.lrSteps).value(),
          .fallFactor = training.lrFactor,
          .power = training.lrPower,
          .end = training.lrEnd};
}

WeightAverage averageOf(const Config::Step& step) {
  if (step.lookahead == 0) return {.decay = step.ema};
  return {.decay = step.lookaheadDecay, .every = step.lookahead, .leads = true, .power = step.lookaheadPower};
}

}  // namespace

OptimizerOptions optimizerOptions(const Config& config, const Setup& setup) {
  return {.rule = setup.optimizer,
          .learningRate = config.step.learningRate,
          .momentum = config.step.momentum,
          .weightDecay = config.step.weightDecay,
          .nesterov = config.step.nesterov,
          .beta1 = config.step.adamBeta1,
          .beta2 = config.step.adamBeta2,
          .epsilon = config.step.adamEpsilon,
          .squareDecay = config.step.rmspropDecay,
          .trust = config.step.trust,
          .clipNorm = config.step.clipNorm,
          .average = averageOf(config.step),
          .decaysWeightsAlone = setup.decayed->weightsAlone,
          .trainsHeadAlone = setup.frozen->allButHead,
          .shiftRate = config.step.shiftRate,
          .schedule = setup.schedule,
          .course = courseOf(config)};
}

}  // namespace tandem
