#include "run/plan/memory_estimate.h"

#include <algorithm>

#include "config/config.h"
#include "config/device_set.h"
#include "data/stream/loader_stream.h"
#include "executor/planned_operation.h"
#include "graph/graph.h"
#include "graph/operation.h"
#include "kernels/conv/convolution.h"
#include "run/plan/setup.h"

namespace tandem {
namespace {

constexpr int64_t runtimeBytesOfHost = 192LL << 20, runtimeBytesOfGpu = 256LL << 20;
constexpr int64_t runtimeBytesOfLoader = 144LL << 20;             // of a process of --loader=processes
constexpr int64_t keptPercent = 85, keptForwardOnlyPercent = 20;  // of all outputs, without a plan
constexpr int64_t largestGradientCopies = 2;
constexpr int64_t outputsOnTheWay = 3;  // of the largest output's size
constexpr int64_t leastReserve = 256LL << 20, reservesPerAvailable = 20;
constexpr int64_t packedCopies = 2;  // a convolution's weights: one for forward, one for backward

int64_t size(at::ScalarType type) { return static_cast<int64_t>(c10::elementSize(type)); }

struct BytesPerParameter {
  int64_t shared = 0;  // weights and optimizer state, which replicas may share
  int64_t own = 0;     // gradients, and what their exchange keeps
};

BytesPerParameter bytesPerParameter(const Config& config, const Setup& setup) {
  const Precision& precision = *setup.precision;
  const int64_t weights = precision.compute == precision.master ? 0 : size(precision.compute);
  const int64_t sum = config.step.accumulate > 1 ? size(at::kFloat) : 0;
  const int64_t values = stateValues(optimizerOptions(config, setup));
  const int64_t state = config.step.forwardOnly ? 0 : values * size(at::kFloat);
  const int64_t exchange = config.step.forwardOnly ? 0 : setup.strategy->ownValues * size(at::kFloat);
  const bool rounded = precision.wire != precision.compute && !config.step.forwardOnly;
  const int64_t written = rounded ? size(precision.compute) : 0;
  return {size(precision.master) + weights + state, size(precision.wire) + written + sum + exchange};
}

/// Whether Tandem's CPU kernels compute convolutions and linear layers.
bool ownKernels(const Setup& setup) { return setup.executor->choosesKernels && setup.onCpu(); }

/// Whether these kernels compute bf16 values in fp32.
bool widens(const Setup& setup) {
  return ownKernels(setup) && setup.precision->compute == at::kBFloat16 && convolutionsWidenBf16();
}

int64_t packedWeightBytes(const Config& config, const Setup& setup, const MemoryNeeds& needs) {
  if (!ownKernels(setup)) return 0;
  const bool channelsLast = setup.firstLayout().format == at::MemoryFormat::ChannelsLast;
  const bool measured = setup.convolution == nullptr && !config.numerics.deterministic && channelsLast;
  int64_t transformed = setup.convolution == nullptr ? 0 : setup.convolution->bytesPer3x3Weight;
  if (measured) {
    for (const auto& row : convolutionAlgorithms()) transformed = std::max(transformed, row.bytesPer3x3Weight);
  }
  const int64_t ordered = widens(setup) ? size(at::kFloat) : size(setup.precision->compute);
  int64_t bytes = 0;
  for (const auto& parameter : needs.graph->parameters()) {
    if (parameter.shape.size() != 4) continue;
    const Attributes& a = needs.graph->node(parameter.node).attributes;
    const bool is3x3 = a.kernelH == 3 && a.kernelW == 3 && a.strideH == 1 && a.strideW == 1;
    bytes += parameter.count() * (is3x3 && transformed > 0 ? transformed : ordered);
  }
  return bytes * (config.step.forwardOnly ? 1 : packedCopies) * needs.replicasPerDevice;
}

/// What a rank of a parameter server holds for each parameter, beside the weights and the sum of its gradients: on
/// servers what comes from each rank, gradients alone or with the weights that go there.
double serverBytesPerParameter(const Config& config, const Setup& setup) {
  if (!setup.strategy->usesServer || config.step.forwardOnly) return 0;
  const auto ranks = static_cast<double>(config.placement.ranks);
  const int64_t some = config.placement.servers > 0 ? config.placement.servers : config.exchange.serverRanks;
  const double servers = some > 0 ? static_cast<double>(some) : ranks;
  const Precision& precision = *setup.precision;
  const auto gradient = static_cast<double>(size(precision.wire));
  const double aside = setup.strategy->putsWeightsAside ? static_cast<double>(size(precision.compute)) / servers : 0;
  if (!setup.strategy->ranksUpdateAlone) return aside + (processCount(config) > 1 ? ranks / servers * gradient : 0);
  const int64_t rounded = precision.compute == precision.master ? 0 : size(precision.compute);
  return (static_cast<double>(size(precision.master) + rounded) + gradient) * (1 + (ranks - 1) / servers);
}

int64_t parameterBytes(const Config& config, const Setup& setup, const MemoryNeeds& needs) {
  const int64_t server = setup.strategy->usesServer ? 1 : 0;
  const BytesPerParameter each = bytesPerParameter(config, setup);
  const auto parameters = static_cast<double>(parameterCount(*needs.graph));
  const auto ofServers = static_cast<int64_t>(serverBytesPerParameter(config, setup) * parameters);
  const int64_t held = parameterCount(*needs.graph) * (each.shared * (needs.parameterCopies + server) +
                                                       each.own * (needs.replicasPerDevice + server)) +
                       ofServers + packedWeightBytes(config, setup, needs);
  if (config.step.forwardOnly) return held;
  int64_t largest = 0;
  for (const auto& parameter : needs.graph->parameters()) {
    const Operation& operation = *needs.graph->node(parameter.node).operation;
    const bool inPlace = ownKernels(setup) && writesGradientInPlace(operation.name);
    if (!inPlace) largest = std::max(largest, parameter.count());
  }
  return held + largestGradientCopies * largest * size(setup.precision->compute) * needs.replicasPerDevice;
}

int64_t activationBytes(const Config& config, const Setup& setup, const MemoryNeeds& needs) {
  if (config.step.loaderOnly) return 0;
  const Precision& precision = *setup.precision;
  const int64_t ofOneValue = needs.replicaBatch / config.step.accumulate * size(precision.compute);
  if (needs.keptBytes == 0) {
    const int64_t percent = config.step.forwardOnly ? keptForwardOnlyPercent : keptPercent;
    return activationCount(*needs.graph) * ofOneValue * needs.replicasPerDevice / 100 * percent;
  }
  int64_t largest = 0;
  for (const Node& node : needs.graph->nodes()) largest = std::max(largest, node.shape.count());
  int64_t onTheWay = outputsOnTheWay * largest * ofOneValue;
  if (widens(setup)) onTheWay += onTheWay / size(precision.compute) * size(at::kFloat);
  return (needs.keptBytes + onTheWay) * needs.replicasPerDevice;
}

int64_t loaderProcesses(const Config& config, const Setup& setup, const MemoryNeeds& needs) {
  return setup.loader->byProcesses ? config.input.producers * needs.replicasPerDevice : 0;
}

int64_t runtimeBytes(const Config& config, const Setup& setup, const MemoryNeeds& needs) {
  if (!setup.onCpu()) return runtimeBytesOfGpu;
  return runtimeBytesOfHost + loaderProcesses(config, setup, needs) * runtimeBytesOfLoader;
}

int64_t inputBytes(const Config& config, const Setup& setup, const MemoryNeeds& needs) {
  const int64_t ofProducer = setup.loader->byProcesses ? loaderSlots : 1;
  const int64_t batchesInFlight =
      setup.source->queued ? config.input.queueDepth + ofProducer * config.input.producers + 1 : 2;
  const int64_t imageElements = needs.graph->node(needs.graph->input()).shape.count();
  return needs.replicaBatch * imageElements * (size(setup.precision->compute) + batchesInFlight) *
             needs.replicasPerDevice +
         needs.datasetBytes +
         (setup.onCpu() ? needs.cacheBytes + loaderProcesses(config, setup, needs) * needs.datasetBytes : 0);
}

}  // namespace

MemoryEstimate estimateMemory(const Config& config, const Setup& setup, const MemoryNeeds& needs) {
  return {.parameters = parameterBytes(config, setup, needs),
          .activations = activationBytes(config, setup, needs),
          .input = inputBytes(config, setup, needs),
          .runtime = runtimeBytes(config, setup, needs)};
}

int64_t memoryToUse(int64_t availableBytes) {
  return std::max<int64_t>(1, availableBytes - std::max(leastReserve, availableBytes / reservesPerAvailable));
}

}  // namespace tandem
