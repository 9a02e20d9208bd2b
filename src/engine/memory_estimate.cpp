#include "engine/memory_estimate.h"

#include <algorithm>

#include "base/catalog.h"
#include "config/config.h"
#include "engine/team_options.h"
#include "graph/graph.h"
#include "kernels/winograd.h"

namespace tandem {
namespace {

constexpr int64_t runtimeBytes = 256LL << 20;
constexpr int64_t keptPercent = 85, keptForwardOnlyPercent = 20;
constexpr int64_t largestGradientCopies = 2;
constexpr int64_t gradientsOnTheWay = 4;
constexpr int64_t leastReserve = 256LL << 20, reservesPerAvailable = 20;
constexpr int64_t packedCopies = 2;  // of a convolution's weights: for forward and for backward

int64_t size(at::ScalarType type) { return static_cast<int64_t>(c10::elementSize(type)); }

int64_t bytesPerParameter(const Config& config, const Precision& precision) {
  const int64_t weights = precision.compute == precision.master ? 0 : size(precision.compute);
  const int64_t sum = config.accumulate > 1 ? size(at::kFloat) : 0;
  const OptimizerOptions optimizer = optimizerOptions(config);
  const int64_t state = config.forwardOnly ? 0 : ruleOf(optimizer).stateValues(optimizer) * size(at::kFloat);
  return size(precision.master) + weights + size(precision.wire) + state + sum;
}

int64_t packedWeightBytes(const Config& config, const MemoryNeeds& needs, const Precision& precision) {
  if (config.executor != "planned" || config.devices != "cpu") return 0;
  const bool chosen = config.convolution == "auto" && !config.deterministic && config.layout != "nchw";
  const bool winograd = chosen || config.convolution == "winograd";
  int64_t bytes = 0;
  for (const auto& parameter : needs.graph->parameters()) {
    if (parameter.shape.size() != 4) continue;
    const bool is3x3 = parameter.shape[2] == 3 && parameter.shape[3] == 3;
    bytes += parameter.count() * (winograd && is3x3 ? winogradBytesPerWeight : size(precision.compute));
  }
  return bytes * (config.forwardOnly ? 1 : packedCopies) * needs.replicasPerDevice;
}

int64_t parameterBytes(const Config& config, const MemoryNeeds& needs, const Precision& precision) {
  const int64_t copies = needs.replicasPerDevice + (config.strategy == "parameter_server" ? 1 : 0);
  const int64_t held = parameterCount(*needs.graph) * bytesPerParameter(config, precision) * copies +
                       packedWeightBytes(config, needs, precision);
  if (config.forwardOnly) return held;
  int64_t largest = 0;
  for (const auto& parameter : needs.graph->parameters()) largest = std::max(largest, parameter.count());
  return held + largestGradientCopies * largest * size(precision.compute) * needs.replicasPerDevice;
}

int64_t activationBytes(const Config& config, const MemoryNeeds& needs, const Precision& precision) {
  const int64_t elements =
      activationCount(*needs.graph) * (needs.replicaBatch / config.accumulate) * needs.replicasPerDevice;
  const int64_t bytes = elements * size(precision.compute) / 100;
  if (config.forwardOnly) return bytes * keptForwardOnlyPercent;
  if (needs.keptShare == 1) return bytes * keptPercent;
  int64_t largest = 0;
  for (const Node& node : needs.graph->nodes()) largest = std::max(largest, node.shape.count());
  const int64_t gradients = largest * (elements / activationCount(*needs.graph)) * size(precision.compute);
  return static_cast<int64_t>(static_cast<double>(bytes * keptPercent) * needs.keptShare) +
         gradientsOnTheWay * gradients;
}

int64_t inputBytes(const Config& config, const MemoryNeeds& needs, int64_t imageElements, int64_t elementSize) {
  const int64_t batchesInFlight = config.input == "queue" ? config.queueDepth + config.producers + 1 : 2;
  return needs.replicaBatch * imageElements * (elementSize + batchesInFlight) * needs.replicasPerDevice +
         needs.datasetBytes;
}

}  // namespace

MemoryEstimate estimateMemory(const Config& config, const MemoryNeeds& needs) {
  const auto& precision = precisionOf(config);
  MemoryEstimate estimate;
  estimate.parameters = parameterBytes(config, needs, precision);
  estimate.activations = activationBytes(config, needs, precision);
  estimate.input = inputBytes(config, needs, needs.graph->node(0).shape.count(), size(precision.compute));
  estimate.runtime = runtimeBytes;
  return estimate;
}

int64_t memoryToUse(int64_t availableBytes) {
  return std::max<int64_t>(1, availableBytes - std::max(leastReserve, availableBytes / reservesPerAvailable));
}

}  // namespace tandem
