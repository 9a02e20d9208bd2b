#pragma once

#include <memory>

#include "executor/planned_operation.h"

namespace tandem {

/// Operations of transformers and ConvNeXt (kernels/transformer).
std::unique_ptr<PlannedOperation> makePlannedLayerNorm(const PlannedBinding& binding);
std::unique_ptr<PlannedOperation> makePlannedLayerScale(const PlannedBinding& binding);

}  // namespace tandem
