#pragma once

#include <span>
#include <vector>

#include "executor/compile/fusion.h"

namespace tandem {

/// Which of a call's values are held in blocks of channels (kernels/conv/nchwc.h).
struct OpLayout {
  std::vector<bool> inputs;
  bool output = false;
};

/// One per call. A convolution's output is blocked where its channels allow it and its input then too, unless that has
/// too few of them; what treats channels apart follows its inputs; the rest is plain.
std::vector<OpLayout> blockedLayouts(const Graph& graph, std::span<const PlannedNode> plan);

}  // namespace tandem
