#pragma once

#include <memory>

#include "executor/planned_operation.h"

namespace tandem {

/// Products of matrices: of the whole images, or of each pixel's channels.
std::unique_ptr<PlannedOperation> makePlannedLinear(const PlannedBinding& binding);
std::unique_ptr<PlannedOperation> makePlannedChannelLinear(const PlannedBinding& binding);

}  // namespace tandem
