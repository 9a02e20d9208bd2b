#include <iomanip>
#include <sstream>

#include "base/text.h"
#include "config/device_set.h"
#include "config/repeats.h"
#include "config/split.h"
#include "run/plan/cuda_graph_policy.h"
#include "run/plan/plan.h"

namespace tandem {
namespace {

std::string memoryText(int64_t bytes) { return bytesText(static_cast<double>(bytes)); }

std::string modelText(const RunPlan& plan) {
  const Config& config = plan.config;
  const auto file = plan.network.empty() ? "" : concat(" (", plan.network, ", sha256 ", plan.networkSha256, ")");
  return concat(config.network.model, file, ", ", config.network.classes, " classes, ", plan.graph->loss().name,
                ", images of ", config.network.imageSize, 'x', config.network.imageSize, ", ", plan.parameters,
                " parameters, ", fixed(plan.forwardFlopsPerImage * 1e-9, 2), " GFLOP forward per image");
}

std::string deviceText(const RunPlan& plan) {
  auto labels = join(plan.deviceLabels, "; ");
  if (!plan.cudaDevices.empty()) return labels;
  return concat(labels, "; ", plan.cores.threadsPerReplica, " thread(s) each, one per ", plan.cores.unit,
                plan.cores.shared ? ", replicas share them" : "",
                plan.link.empty() ? "" : concat(", all within one ", plan.link));
}

/// "32", or unequal shares by replica: "48, 16"; "by measured rates" where they are not known yet.
std::string sharesText(const RunPlan& plan) {
  if (parseSplit(plan.config.step.split).value().measured) return "by measured rates";
  std::vector<std::string> texts;
  for (const int64_t share : unequalShares(plan)) texts.push_back(concat(share));
  return texts.empty() ? concat(plan.replicaBatch) : join(texts);
}

std::string batchText(const RunPlan& plan) {
  const int64_t parts = plan.config.step.accumulate;
  const std::string guess = plan.search ? concat("; ", guessText(plan)) : "";
  return concat(sharesText(plan), " per replica", parts > 1 ? concat(" in ", parts, " parts") : "", ", ",
                plan.globalBatch, " global (", plan.config.measurement.scaling, " scaling)", guess);
}

/// What replicas exchange and by what: "all-reduce shared", "powersgd of rank 4 by all-reduce shared".
std::string exchangedText(const Config::Exchange& exchange, const Setup& setup) {
  std::string allReduce = concat("all-reduce ", setup.allReduce.text());
  if (setup.strategy->usesLocalSgd) {
    const double momentum = exchange.blockMomentum;
    return concat("weights averaged every ", exchange.syncEvery, " steps",
                  momentum > 0 ? concat(" with block momentum ", momentum) : "", " by ", allReduce);
  }
  if (!setup.strategy->usesCompression) return allReduce;
  const CompressionEntry& method = *setup.compression;
  return concat(
      method.name, method.usesRank ? concat(" of rank ", exchange.compressionRank) : "",
      method.usesRatio ? concat(" of ratio ", exchange.compressionRatio) : "",
      method.exchange == Collective::gather ? " gathered" : concat(" by ", allReduce),
      exchange.compressionStart > 0 ? concat(" after ", exchange.compressionStart, " updates of whole gradients") : "");
}

/// ", gradients in bf16" where that is not the type in which they are computed.
std::string gradientsText(const Precision& precision) {
  return precision.wire == precision.compute ? "" : concat(", gradients in ", gradientPrecisionOf(precision.wire).name);
}

std::string bucketsText(const Config::Exchange& exchange) {
  const double first = exchange.firstBucketMib;
  return concat(" in buckets of ", exchange.bucketMib, " MiB", first > 0 ? concat(", the first of ", first) : "");
}

/// " of 2 ranks, async, at most 3 updates stale": what is not the default.
std::string serversText(const Config& config, const Setup& setup) {
  const int64_t alone = config.placement.servers, ranks = config.exchange.serverRanks;
  const std::string mode(setup.strategy->mode);
  return concat(
      alone > 0   ? concat(" of ", alone, " servers")
      : ranks > 0 ? concat(" of ", ranks, " ranks")
                  : "",
      mode.empty() ? "" : concat(", ", mode),
      setup.strategy->ranksUpdateAlone ? concat(", at most ", config.exchange.maxStaleness, " updates stale") : "");
}

std::string exchangeText(const RunPlan& plan) {
  const Config& config = plan.config;
  const Setup& setup = plan.setup;
  if (config.step.forwardOnly || setup.strategy->exchange == Exchange::none)
    return concat(config.exchange.strategy, ", nothing is exchanged");
  const bool copied = !setup.onCpu() && config.exchange.parameterDevice == Config().exchange.parameterDevice;
  const auto buckets = setup.strategy->usesLocalSgd ? "" : bucketsText(config.exchange);
  const auto how = setup.strategy->usesServer
                       ? concat("parameters on ", config.exchange.parameterDevice, serversText(config, setup),
                                copied ? concat(", gradients copied there", buckets) : "")
                       : concat(exchangedText(config.exchange, setup), buckets);
  return concat(config.exchange.strategy, ", ", how, gradientsText(*setup.precision),
                setup.overlap->duringBackward ? "" : ", after backward",
                config.exchange.syncBatchNorm ? "; batch-norm over all replicas" : "");
}

std::string inputText(const RunPlan& plan) {
  const Config& config = plan.config;
  if (plan.setup.source->stream != nullptr) {
    return concat("batches of ", config.input.source, ", ", config.input.queueDepth, " ahead per replica");
  }
  const auto images = config.input.data.empty() ? std::string("synthetic images")
                                                : concat(dataText(plan), ", augmentation ", plan.augment->text);
  if (!plan.setup.source->queued) return concat(config.input.source, ", ", images);
  return concat(config.input.source, ", ", images, ", ", config.input.producers,
                plan.setup.loader->byProcesses ? " process(es) and " : " producer(s) and ", config.input.queueDepth,
                " batches ahead per replica");
}

std::string averageText(const WeightAverage& average) {
  if (!average.isKept()) return {};
  if (!average.leads) return concat(", weights and statistics averaged with decay ", average.decay);
  const auto grown = average.power == 0 ? "" : concat(" times the part of the updates made ^ ", average.power);
  return concat(", looking ahead ", average.every, " updates with decay ", average.decay, grown);
}

/// What is not the default: ", gradients clipped to norm 1".
std::string updateText(const OptimizerOptions& options) {
  return concat(
      options.clipNorm > 0 ? concat(", gradients clipped to norm ", options.clipNorm) : "",
      averageText(options.average),
      options.shiftRate != 1 ? concat(", shifts of normalizations with ", options.shiftRate, " times the rate") : "",
      options.trainsHeadAlone ? ", the classifier alone" : "");
}

std::string trainingText(const RunPlan& plan) {
  const Config& config = plan.config;
  if (config.step.loaderOnly) return "batches only";
  if (config.step.forwardOnly) return "forward pass only";
  const OptimizerOptions optimizer = optimizerOptions(config, plan.setup);
  return concat(config.step.optimizer, ", learning rate ", config.step.learningRate, " (", config.step.schedule, "), ",
                plan.setup.optimizer->coefficients(optimizer), ", weight decay ", config.step.weightDecay,
                optimizer.decaysWeightsAlone ? " of weights alone" : "", updateText(optimizer), ", loss at ",
                config.exchange.lossAt, config.step.classWeights.empty() ? "" : ", classes weighted",
                plan.setup.precision->lossScaling ? concat(", scaled from ", LossScaleRule().initial) : "", ", seed ",
                config.step.seed, config.numerics.deterministic ? ", deterministic" : "");
}

std::string warmupText(const RunPlan& plan) {
  const Config& config = plan.config;
  const auto asked = config.measurement.warmup == Config::automatic ? std::string("until the step time is steady")
                                                                    : concat(config.measurement.warmup, " steps");
  const int64_t fewest = fewestWarmup(config, plan.setup);
  return fewest > 0 ? concat(asked, ", and at least ", fewest, ", until the step is recorded") : asked;
}

std::string measuredText(const Config& config) {
  const auto amount = config.measurement.steps > 0 ? concat(config.measurement.steps, " steps")
                                                   : concat("steps for ", runBudget(config), " s");
  return concat(amount, ", given up after ", deadlineSeconds(config), " s");
}

std::string everyText(double epochs) {
  return epochs > 0 ? concat("every ", epochs, epochs == 1 ? " epoch" : " epochs") : std::string("at the end");
}

std::string courseText(const RunPlan& plan) {
  const Config::Training& training = plan.config.training;
  const std::string saved = training.checkpoint.empty()
                                ? std::string("no checkpoints")
                                : concat("checkpoints ", everyText(training.saveEvery), " in ", training.checkpoint);
  return concat(training.epochs, training.epochs == 1 ? " epoch" : " epochs", " of ",
                plan.data ? concat(plan.data->images) : std::string("synthetic"), " images",
                training.trainSize.empty() ? "" : concat(" of ", training.trainSize, " pixels"), ", evaluated ",
                everyText(training.validateEvery), ", ", saved);
}

std::string graphWords(const RunPlan& plan) {
  const std::string text = cudaGraphText(plan.config, plan.setup);
  return text.empty() ? "" : concat(", CUDA graph ", text);
}

std::string_view perWhat(const RunPlan& plan) {
  if (plan.place.size > 1) return " per rank";
  return plan.cudaDevices.empty() ? "" : " per device";
}

std::string ranksText(const Config& config) {
  const int64_t servers = config.placement.servers;
  return concat(config.placement.ranks, " processes on this host",
                servers > 0 ? concat(", and ", servers, " more that only serve variables") : "");
}

std::string memoryLine(const RunPlan& plan) {
  const auto& memory = plan.memory;
  return concat("about ", memoryText(memory.total()), perWhat(plan), " (parameters ", memoryText(memory.parameters),
                ", activations ", memoryText(memory.activations), ", input ", memoryText(memory.input), ", runtime ",
                memoryText(memory.runtime), "), ", memoryText(plan.availableBytes), " available");
}

}  // namespace

std::string guessText(const RunPlan& plan) {
  return concat("--batch=max is tried only in a run: ", plan.config.step.batch, " is the guess of the memory estimate");
}

std::string dataText(const RunPlan& plan) {
  const auto split = plan.data->info.split;
  return concat(split ? concat(rowOf(*split).name, ' ') : "", "images of ", plan.config.input.data);
}

std::string standInNote(const RunPlan& plan) {
  if (!plan.data || plan.setup.dataSplit == nullptr) return {};
  const std::string text = standInText(plan.setup.dataSplit->split, plan.data->info.split);
  return text.empty() ? "" : concat("--data=", plan.config.input.data, ": ", text);
}

std::string planText(const RunPlan& plan) {
  const Config& config = plan.config;
  std::ostringstream out;
  const auto line = [&](const char* name, const std::string& text) {
    out << std::left << std::setw(11) << name << text << '\n';
  };
  line("model", modelText(plan));
  line("compute",
       concat(config.numerics.precision, ", layout ", config.numerics.layout, ", executor ", config.numerics.executor,
              config.numerics.recompute == Config().numerics.recompute
                  ? ""
                  : concat(", recompute ", config.numerics.recompute),
              graphWords(plan)));
  if (processCount(config) > 1) line("ranks", ranksText(config));
  line("devices", deviceText(plan));
  for (const std::string& text : plan.gpuLinkLines) line("", text);
  line("batch", batchText(plan));
  line("exchange", exchangeText(plan));
  line("training", trainingText(plan));
  line("input", inputText(plan));
  if (config.training.epochs > 0) {
    line("course", courseText(plan));
  } else {
    line("warm-up", warmupText(plan));
    line("measured", measuredText(config));
  }
  line("memory", memoryLine(plan));
  return out.str();
}

std::string planLine(const RunPlan& plan) {
  const Config& config = plan.config;
  return concat(config.network.model, ' ', config.numerics.precision, ", layout ", config.numerics.layout,
                graphWords(plan), " | ", join(plan.deviceLabels, "; "), plan.cores.shared ? " (shared)" : "",
                " | batch ", sharesText(plan), ", global ", plan.globalBatch, " | ", exchangeText(plan), " | input ",
                config.input.source, " | memory about ", memoryText(plan.memory.total()));
}

}  // namespace tandem
