#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "executor/compile/fusion.h"

namespace tandem {

struct ExecutorOptions;  // executor/executor.h
struct Operation;        // graph/operation.h

/// What backward needs of a call's forward.
struct OpLiveness {
  const Operation* operation = nullptr;
  bool backward = false;          ///< whether something at or before it has a gradient
  bool onlyForwardKeeps = false;  ///< whether only a forward can make what backward reads
  std::vector<NodeId> read;       ///< values that its backward reads, possibly its own output
  int64_t ownBytes = 0;           ///< of one image, kept beside the values (KeptForBackward::bytesPerValue)
};

/// The values and calls of a plan, and how long values stay in memory. Copies of a value that kernels make in another
/// layout are not counted.
struct Activations {
  std::span<const PlannedNode> plan;  ///< must outlive this object
  std::vector<OpLiveness> calls;      ///< one per call
  std::vector<int> maker;             ///< per value: the call that makes it; -1: the images
  std::vector<int> lastReader;        ///< per value: the last call that reads it in forward; -1: none
  std::vector<int64_t> bytes;         ///< per value: of one image
};

Activations activationsOf(const Graph& graph, std::span<const PlannedNode> plan, const ExecutorOptions& options);

}  // namespace tandem
