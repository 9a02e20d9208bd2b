#include "executor/executor.h"

#include <algorithm>
#include <array>
#include <optional>

#include "executor/autograd_executor.h"
#include "executor/planned_executor.h"
#include "graph/state.h"
#include "kernels/conv/convolution.h"
#include "kernels/conv/nchwc.h"

namespace tandem {
namespace {

constexpr std::array<ExecutorEntry, 2> rows{{
    {"autograd", "each node is an ATen call, backward by libtorch's autograd", makeAutogradExecutor},
    {"planned", "fused operations, forward and backward called in a fixed order", makePlannedExecutor,
     /*choosesKernels=*/true, /*planned=*/true, /*capturable=*/true},
}};

}  // namespace

std::span<const ExecutorEntry> executors() { return rows; }

bool canChooseKernels(const LayoutEntry& layout, at::Device device, at::ScalarType compute) {
  return layout.format == at::MemoryFormat::ChannelsLast && device.is_cpu() && convolutionsTake(compute) &&
         !convolutionLibrary().empty();
}

bool choosesKernels(const ExecutorEntry& executor, const LayoutEntry& layout, at::Device device,
                    at::ScalarType compute) {
  return executor.choosesKernels && canChooseKernels(layout, device, compute);
}

bool serves(const ExecutorEntry& executor, const LayoutEntry& layout, at::Device device, at::ScalarType compute) {
  return !layout.blocked || choosesKernels(executor, layout, device, compute);
}

namespace {

int64_t blockOf(const Graph& graph, const Parameter& parameter, const ExecutorOptions& options) {
  if (!options.kernels.layout.blocked || options.compute != at::kFloat || parameter.shape.size() != 4) return 0;
  const bool whole = canBlock(parameter.shape[0]) && canBlock(parameter.shape[1]);
  return whole && graph.node(parameter.node).attributes.groups == 1 ? blockChannels() : 0;
}

}  // namespace

std::vector<ParameterSpec> parameterSpecs(const Graph& graph, const ExecutorOptions& options) {
  std::vector<ParameterSpec> specs;
  std::vector<std::optional<NodeId>> heads;
  for (const NodeId output : graph.outputs()) heads.push_back(findHead(graph, output));
  for (const Parameter& parameter : graph.parameters()) {
    const bool norm = parameter.role == ParameterRole::normScale || parameter.role == ParameterRole::normShift;
    specs.push_back({.name = parameter.name,
                     .shape = parameter.shape,
                     .fp32 = norm,
                     .block = blockOf(graph, parameter, options),
                     .isWeight = parameter.role == ParameterRole::weight,
                     .isHead = std::ranges::find(heads, std::optional(parameter.node)) != heads.end(),
                     .isShift = parameter.role == ParameterRole::normShift,
                     .whitens = graph.node(parameter.node).attributes.whitening});
  }
  std::reverse(specs.begin(), specs.end());
  return specs;
}

}  // namespace tandem
