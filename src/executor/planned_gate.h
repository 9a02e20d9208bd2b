#pragma once

#include <memory>

#include "executor/planned_operation.h"

namespace tandem {

/// The parts of squeeze-and-excite (kernels/channel/channel_gate.h).
std::unique_ptr<PlannedOperation> makePlannedMultiply(const PlannedBinding& binding);
std::unique_ptr<PlannedOperation> makePlannedGlobalAveragePool(const PlannedBinding& binding);

}  // namespace tandem
