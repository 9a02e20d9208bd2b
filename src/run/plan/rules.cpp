#include "run/plan/rules.h"

#include <algorithm>
#include <cstdlib>

#include "base/text.h"
#include "config/device_set.h"
#include "config/option.h"
#include "run/plan/cuda_graph_policy.h"
#include "run/plan/rule_check.h"
#include "trace/fault.h"

namespace tandem {
namespace {

constexpr const char* allowInject = "TANDEM_ALLOW_INJECT";

std::string plannedOnes() { return thoseWith("--executor", executors(), &ExecutorEntry::planned); }

Breach allReduceRunsThere(const Config& config, const Setup& setup) {
  const auto runsOn = setup.onCpu() ? &AllReduceEntry::onCpu : &AllReduceEntry::onCuda;
  if (!setup.strategy->usesAllReduce || setup.allReduce.all(runsOn)) return std::nullopt;
  return concat(
      "--all-reduce=", config.exchange.allReduce, " with --devices=", config.placement.devices,
      ": this algorithm does not run there; those that do: ", thoseWith("--all-reduce", allReduces(), runsOn));
}

Breach strategyTakesTheAllReduce(const Config& config, const Setup& setup) {
  if (accepts(*setup.strategy, setup.allReduce.ownersUpdate())) return std::nullopt;
  return concat(
      "--all-reduce=", config.exchange.allReduce, " with --strategy=", config.exchange.strategy,
      ": owners update for all, but there each replica updates its own weights; use --all-reduce=", Config::automatic);
}

Breach ownersUpdateAllOrNone(const Config& config, const Setup& setup) {
  if (setup.allReduce.rows().size() == 1 || !setup.allReduce.ownersUpdate()) return std::nullopt;
  return concat(
      "--all-reduce=", config.exchange.allReduce, ": owners update for all, so their way of summing is that of ",
      "all buckets or of none; those by size: ", thoseWith("--all-reduce", allReduces(), [](const AllReduceEntry& row) {
        return row.onCpu && !row.ownersUpdate;
      }));
}

Breach parameterDeviceIsAReplica(const Config& config, const Setup& setup) {
  const auto name = parseDeviceName(config.exchange.parameterDevice);
  if (!name || !setup.strategy->usesServer) return std::nullopt;
  const std::vector<int> indices = deviceIndices(config);
  const bool isReplica = std::ranges::find(indices, name->index) != indices.end();
  if (name->cpu == isOnCpu(config) && isReplica) return std::nullopt;
  return concat("--parameter-device=", config.exchange.parameterDevice,
                " is no device of this run (--devices=", config.placement.devices, " --replicas=", replicaCount(config),
                "); devices count from 0");
}

Breach inputReadsTheData(const Config& config, const Setup& setup) {
  if (setup.source->realData || config.input.data.empty()) return std::nullopt;
  return concat("--input=", config.input.source,
                setup.source->stream != nullptr ? " takes images from outside" : " makes synthetic images",
                " and cannot read --data=", config.input.data, "; leave one of them out");
}

Breach loaderMakesBatches(const Config& config, const Setup& setup) {
  if (!config.step.loaderOnly || !setup.source->repeats) return std::nullopt;
  return concat("--loader-only with --input=", setup.source->name,
                ", which makes one batch and repeats it; give --data, or use --input=queue or host");
}

Breach gatheredLossTrains(const Config& config, const Setup& setup) {
  if (!config.step.forwardOnly || !setup.lossPlacement->gathered) return std::nullopt;
  return concat("--loss-at=", config.exchange.lossAt, " with ", optionWithoutTraining(config.step),
                ": without backward no gradient flows back; leave one of them out");
}

Breach partsHaveTheirOwnLoss(const Config& config, const Setup& setup) {
  if (config.step.accumulate == 1 || !setup.lossPlacement->gathered) return std::nullopt;
  return concat("--accumulate=", config.step.accumulate, " with --loss-at=", config.exchange.lossAt,
                ": a batch in parts has its loss on the replica; use --loss-at=", Config().exchange.lossAt);
}

Breach searchedBatchIsPerReplica(const Config& config, const Setup& setup) {
  if (config.step.batch != Config::mostThatFits || !setup.scaling->batchIsGlobal) return std::nullopt;
  return concat("--batch=max with --scaling=", config.measurement.scaling,
                ": it keeps one global batch for all numbers of ",
                "replicas, a search finds another for each; use --scaling=weak, or give a number");
}

Breach searchedBatchIsEqual(const Config& config, const Setup&) {
  if (config.step.batch != Config::mostThatFits || config.step.split == Config().step.split) return std::nullopt;
  return concat("--batch=max with --split=", config.step.split,
                ": the search finds the batch of equal replicas; leave --split away, or give a number");
}

Breach recomputationHasAPlan(const Config& config, const Setup& setup) {
  if (config.numerics.recompute == Config().numerics.recompute || setup.executor->planned) return std::nullopt;
  return concat("--recompute=", config.numerics.recompute, " with --executor=", config.numerics.executor, ": only ",
                plannedOnes(), " computes activations again; leave one of them out");
}

Breach paddingHasAPlan(const Config& config, const Setup& setup) {
  if (setup.padding == nullptr || setup.padding->multiple == 1 || setup.executor->planned) return std::nullopt;
  return concat("--pad-images=", config.numerics.padImages, " with --executor=", config.numerics.executor, ": only ",
                plannedOnes(), " pads images; leave one of them out");
}

Breach overlapIsOfAnExchange(const Config& config, const Setup& setup) {
  if (config.exchange.overlap == Config().exchange.overlap) return std::nullopt;
  if (config.step.forwardOnly) {
    return concat("--overlap=", config.exchange.overlap, " with ", optionWithoutTraining(config.step),
                  ": without backward nothing is exchanged; leave one of them out");
  }
  if (setup.strategy->exchangesGradients) return std::nullopt;
  return concat("--overlap=", config.exchange.overlap, " does nothing with --strategy=", config.exchange.strategy,
                ", which exchanges no gradients; leave one of them out");
}

Breach roundedGradientsAreThere(const Config& config, const Setup&) {
  if (config.exchange.gradientPrecision == Config::automatic || !config.step.forwardOnly) return std::nullopt;
  return concat("--gradient-precision=", config.exchange.gradientPrecision, " with ",
                optionWithoutTraining(config.step), ": without backward there are no gradients; leave one of them out");
}

Breach joinedReplicasMakeOneUpdate(const Config& config, const Setup& setup) {
  const Exchange exchange = setup.strategy->exchange;
  const bool together = exchange == Exchange::synchronous || exchange == Exchange::lossy;
  if (!config.exchange.syncBatchNorm || together) return std::nullopt;
  return concat("--sync-batch-norm with --strategy=", config.exchange.strategy,
                ": its replicas train alone, each with its own statistics; leave one of them out");
}

Breach layoutIsServed(const Config& config, const Setup& setup) {
  if (serves(*setup.executor, setup.firstLayout(), setup.device, setup.precision->compute)) return std::nullopt;
  return concat(
      "--layout=", config.numerics.layout, " with --executor=", config.numerics.executor,
      " --devices=", config.placement.devices, " --precision=", config.numerics.precision, ": it needs ", plannedOnes(),
      ", --devices=cpu, --precision=fp32 or bf16 and a build with oneDNN; use --layout=", layouts().front().name);
}

Breach convolutionIsServed(const Config& config, const Setup& setup) {
  if (setup.convolution == nullptr || setup.convolution == &convolutionAlgorithms().front()) return std::nullopt;
  if (choosesKernels(*setup.executor, setup.firstLayout(), setup.device, setup.precision->compute)) return std::nullopt;
  return concat("--convolution=", config.numerics.convolution, " with --executor=", config.numerics.executor,
                " --devices=", config.placement.devices, " --layout=", config.numerics.layout,
                " --precision=", config.numerics.precision, ": it needs ", plannedOnes(),
                ", --devices=cpu, a --layout other than nchw, --precision=fp32 or bf16 ",
                "and a build with oneDNN; use --convolution=", Config::automatic);
}

Breach graphCanBeCaptured(const Config& config, const Setup& setup) {
  const CudaGraphPolicy policy = cudaGraphPolicy(config, setup);
  if (policy.on || !setup.cudaGraph->required) return std::nullopt;
  return concat("--cuda-graph=", config.numerics.cudaGraph, ": ", policy.why,
                ", and a step must be the same work each time; use --cuda-graph=", Config::automatic);
}

Breach faultIsOfThisRun(const Config& config, const Setup&) {
  if (config.measurement.inject.empty()) return std::nullopt;
  const std::string given = concat("--inject=", config.measurement.inject);
  const char* const allowed = std::getenv(allowInject);
  if (allowed == nullptr || allowed != std::string_view("1")) {
    return concat(given, " puts a fault into the run; set ", allowInject, "=1 to allow that, or leave it away");
  }
  const Fault fault = faultFrom(config.measurement.inject);
  if (fault.rank >= processCount(config)) {
    return concat(given, ": there are ", processCount(config), " ranks, from 0");
  }
  const int64_t replicas = replicaCount(config);
  if (fault.replica >= replicas) return concat(given, ": a rank has ", replicas, " replicas, from 0");
  return std::nullopt;
}

Breach weightsAreComparable(const Config& config, const Setup& setup) {
  const int64_t every = config.exchange.checkDrift;
  const Exchange exchange = setup.strategy->exchange;
  const bool equal = exchange == Exchange::synchronous || exchange == Exchange::lossy;
  if (every == 0 || equal) return std::nullopt;
  const std::string given = concat("--check-drift=", every, " with --strategy=", config.exchange.strategy);
  if (!setup.strategy->usesLocalSgd)
    return concat(given, ": its replicas need not be equal after a step; leave one out");
  if (every % config.exchange.syncEvery == 0) return std::nullopt;
  return concat(given, ": replicas are equal after every ", config.exchange.syncEvery,
                " steps (--sync-every); give a multiple of it");
}

constexpr Breach (*setupRules[])(const Config&, const Setup&) = {
    parameterDeviceIsAReplica, inputReadsTheData,
    loaderMakesBatches,        gatheredLossTrains,
    partsHaveTheirOwnLoss,     recomputationHasAPlan,
    paddingHasAPlan,           overlapIsOfAnExchange,
    roundedGradientsAreThere,  joinedReplicasMakeOneUpdate,
    allReduceRunsThere,        searchedBatchIsPerReplica,
    searchedBatchIsEqual,      layoutIsServed,
    convolutionIsServed,       graphCanBeCaptured,
    strategyTakesTheAllReduce, ownersUpdateAllOrNone,
    faultIsOfThisRun,          weightsAreComparable,
};

}  // namespace

void checkSetup(const Config& config, const Setup& setup) {
  requireAll(setupRules, config, setup);
  checkUpdate(config, setup);
  checkRanks(config, setup);
  checkStream(config, setup);
}

}  // namespace tandem
