#pragma once

#include <span>
#include <vector>

#include "executor/compile/fusion.h"

namespace tandem {

/// Which values of a call are held in blocks of channels (kernels/conv/nchwc.h).
struct OpLayout {
  std::vector<bool> inputs;
  bool output = false;
};

/// The layout of each call. A convolution's output is blocked if its number of channels allows it; its input too, if it
/// has enough channels. Operations that treat channels apart follow their inputs; all others are plain.
std::vector<OpLayout> blockedLayouts(const Graph& graph, std::span<const PlannedNode> plan);

}  // namespace tandem
