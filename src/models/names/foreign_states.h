#pragma once

#include "models/names/weights_map.h"

/// The rows of weightsMaps(), one file each.
namespace tandem {

ForeignState ownState(std::string_view model, const Graph& graph);

/// keras.applications: HWIO kernels; gamma, beta, moving_mean, moving_variance. A convolution's bias in front of a
/// batch-norm, which the networks here do not have, is taken off the running mean; the difference of the epsilons is
/// added to the running variance. Both leave what evaluation computes as it is.
ForeignState kerasState(std::string_view model, const Graph& graph);

/// timm 1.0: the same tensors by other names, some in another shape.
ForeignState timmState(std::string_view model, const Graph& graph);

}  // namespace tandem
