#pragma once

#include "models/names/weights_map.h"

/// The rows of weightsMaps(), one source each.
namespace tandem {

ForeignState ownState(std::string_view model, const Graph& graph);

/// keras.applications: HWIO kernels; gamma, beta, moving_mean, moving_variance. Its convolutions have a bias before
/// batch-norm, which Tandem's do not: that bias is subtracted from the running mean. The difference of the epsilons is
/// added to the running variance. Neither changes the result of evaluation.
ForeignState kerasState(std::string_view model, const Graph& graph);

/// timm 1.0: the same tensors under other names, some with another shape.
ForeignState timmState(std::string_view model, const Graph& graph);

}  // namespace tandem
