#include "run/plan/setup.h"

#include <algorithm>

#include "base/catalog.h"
#include "config/device_set.h"

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
const Entry* rowUnlessMeasured(std::span<const Entry> catalog, const std::string& name, std::string_view option) {
  return name == Config::automatic ? nullptr : &find(catalog, name, option);
}

}  // namespace

Setup setupOf(const Config& config) {
  const bool onCpu = isOnCpu(config), hasData = !config.data.empty();
  const auto reducesHere = [&](const AllReduceEntry& row) { return onCpu ? row.onCpu : row.onCuda; };
  const auto delivers = [&](const SourceEntry& row) { return row.realData == hasData; };
  return {.device = onCpu ? at::kCPU : at::kCUDA,
          .executor = &find(executors(), config.executor, "--executor"),
          .precision = &find(precisions(), config.precision, "--precision"),
          .layout = rowUnlessMeasured(layouts(), config.layout, "--layout"),
          .convolution = rowUnlessMeasured(convolutionAlgorithms(), config.convolution, "--convolution"),
          .padding = rowUnlessMeasured(imagePaddings(), config.padImages, "--pad-images"),
          .recompute = &find(recomputes(), config.recompute, "--recompute"),
          .cudaGraph = &find(cudaGraphs(), config.cudaGraph, "--cuda-graph"),
          .strategy = &find(strategies(), config.strategy, "--strategy"),
          .allReduce = &rowOrFirst(allReduces(), config.allReduce, "--all-reduce", reducesHere),
          .overlap = &find(overlaps(), config.overlap, "--overlap"),
          .lossPlacement = &find(lossPlacements(), config.lossAt, "--loss-at"),
          .source = &rowOrFirst(sources(), config.input, "--input", delivers),
          .augment = &find(augments(), config.augment, "--augment"),
          .optimizer = &find(optimizers(), config.optimizer, "--optimizer"),
          .schedule = &find(schedules(), config.schedule, "--schedule"),
          .scaling = &find(scalings(), config.scaling, "--scaling")};
}

OptimizerOptions optimizerOptions(const Config& config, const Setup& setup) {
  return {.rule = setup.optimizer,
          .learningRate = config.learningRate,
          .momentum = config.momentum,
          .weightDecay = config.weightDecay,
          .nesterov = config.nesterov,
          .beta1 = config.adamBeta1,
          .beta2 = config.adamBeta2,
          .epsilon = config.adamEpsilon,
          .schedule = setup.schedule,
          .totalSteps = config.steps};
}

}  // namespace tandem
