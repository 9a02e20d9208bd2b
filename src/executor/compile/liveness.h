#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "executor/compile/fusion.h"

namespace tandem {

struct ExecutorOptions;  // executor/executor.h
struct Operation;        // graph/operation.h

/// What backward wants of a call's forward.
struct OpLiveness {
  const Operation* operation = nullptr;
  bool backward = false;     ///< something at or before it has a gradient
  bool byAutograd = false;   ///< only a forward makes what backward reads
  std::vector<NodeId> read;  ///< values that its backward reads, its own output perhaps among them
  int64_t ownBytes = 0;      ///< of one image, read beside the values: places of a maximum, a dropout's mask
};

/// The values and calls of a plan, as far as it matters how long they stay in memory. Kernels' copies of a value in
/// another order are not counted.
struct Activations {
  std::span<const PlannedNode> plan;  ///< outlives this
  std::vector<OpLiveness> calls;      ///< one per call
  std::vector<int> maker;             ///< per value the call that makes it, -1 for the images
  std::vector<int> lastReader;        ///< per value the last call that reads it in forward, -1 for none
  std::vector<int64_t> bytes;         ///< per value, of one image
};

Activations activationsOf(const Graph& graph, std::span<const PlannedNode> plan, const ExecutorOptions& options);

}  // namespace tandem
