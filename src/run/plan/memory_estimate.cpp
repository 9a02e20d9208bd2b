#include "run/plan/memory_estimate.h"

#include <algorithm>

#include "base/catalog.h"
#include "config/config.h"
#include "graph/graph.h"
#include "graph/operation.h"
#include "kernels/conv/convolution.h"
#include "kernels/conv/winograd.h"
#include "run/plan/replica_set_options.h"

namespace tandem {
namespace {

constexpr int64_t runtimeBytesOfHost = 192LL << 20, runtimeBytesOfGpu = 256LL << 20;
constexpr int64_t keptPercent = 85, keptForwardOnlyPercent = 20;  // of all outputs, where the plan says nothing
constexpr int64_t largestGradientCopies = 2;
constexpr int64_t outputsOnTheWay = 3;  // of the largest size
constexpr int64_t leastReserve = 256LL << 20, reservesPerAvailable = 20;
constexpr int64_t packedCopies = 2;  // of a convolution's weights: for forward and for backward

int64_t size(at::ScalarType type) { return static_cast<int64_t>(c10::elementSize(type)); }

struct BytesPerParameter {
  int64_t shared = 0;  // weights and the optimizer's state: replicas may hold them together
  int64_t own = 0;     // gradients
};

BytesPerParameter bytesPerParameter(const Config& config, const Precision& precision) {
  const int64_t weights = precision.compute == precision.master ? 0 : size(precision.compute);
  const int64_t sum = config.accumulate > 1 ? size(at::kFloat) : 0;
  const OptimizerOptions optimizer = optimizerOptions(config);
  const int64_t state = config.forwardOnly ? 0 : ruleOf(optimizer).stateValues(optimizer) * size(at::kFloat);
  return {size(precision.master) + weights + state, size(precision.wire) + sum};
}

bool plansOnCpu(const Config& config) { return config.executor == "planned" && config.devices == "cpu"; }

/// Whether convolutions and linear layers of bf16 are computed in fp32.
bool widens(const Config& config, const Precision& precision) {
  return plansOnCpu(config) && precision.compute == at::kBFloat16 && convolutionsWidenBf16();
}

int64_t packedWeightBytes(const Config& config, const MemoryNeeds& needs, const Precision& precision) {
  if (!plansOnCpu(config)) return 0;
  const bool chosen = config.convolution == "auto" && !config.deterministic && config.layout != "nchw";
  const bool winograd = chosen || config.convolution == "winograd";
  const int64_t ordered = widens(config, precision) ? size(at::kFloat) : size(precision.compute);
  int64_t bytes = 0;
  for (const auto& parameter : needs.graph->parameters()) {
    if (parameter.shape.size() != 4) continue;
    const Attributes& a = needs.graph->node(parameter.node).attributes;
    const bool is3x3 = a.kernelH == 3 && a.kernelW == 3 && a.strideH == 1 && a.strideW == 1;
    bytes += parameter.count() * (winograd && is3x3 ? winogradBytesPerWeight : ordered);
  }
  return bytes * (config.forwardOnly ? 1 : packedCopies) * needs.replicasPerDevice;
}

int64_t parameterBytes(const Config& config, const MemoryNeeds& needs, const Precision& precision) {
  const int64_t server = config.strategy == "parameter_server" ? 1 : 0;
  const BytesPerParameter each = bytesPerParameter(config, precision);
  const int64_t held = parameterCount(*needs.graph) * (each.shared * (needs.parameterCopies + server) +
                                                       each.own * (needs.replicasPerDevice + server)) +
                       packedWeightBytes(config, needs, precision);
  if (config.forwardOnly) return held;
  int64_t largest = 0;
  for (const auto& parameter : needs.graph->parameters()) {
    const bool inPlace = plansOnCpu(config) && needs.graph->node(parameter.node).operation->name == "linear";
    if (!inPlace) largest = std::max(largest, parameter.count());
  }
  return held + largestGradientCopies * largest * size(precision.compute) * needs.replicasPerDevice;
}

int64_t activationBytes(const Config& config, const MemoryNeeds& needs, const Precision& precision) {
  const int64_t ofOneValue = needs.replicaBatch / config.accumulate * size(precision.compute);
  if (needs.keptBytes == 0) {
    const int64_t percent = config.forwardOnly ? keptForwardOnlyPercent : keptPercent;
    return activationCount(*needs.graph) * ofOneValue * needs.replicasPerDevice / 100 * percent;
  }
  int64_t largest = 0;
  for (const Node& node : needs.graph->nodes()) largest = std::max(largest, node.shape.count());
  int64_t onTheWay = outputsOnTheWay * largest * ofOneValue;
  if (widens(config, precision)) onTheWay += onTheWay / size(precision.compute) * size(at::kFloat);
  return (needs.keptBytes + onTheWay) * needs.replicasPerDevice;
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
  estimate.runtime = config.devices == "cpu" ? runtimeBytesOfHost : runtimeBytesOfGpu;
  return estimate;
}

int64_t memoryToUse(int64_t availableBytes) {
  return std::max<int64_t>(1, availableBytes - std::max(leastReserve, availableBytes / reservesPerAvailable));
}

}  // namespace tandem
