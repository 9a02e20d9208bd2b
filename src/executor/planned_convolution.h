#pragma once

#include <memory>

#include "executor/planned_operation.h"

namespace tandem {

/// A convolution of the plan: by a selectable kernel (kernels/conv/convolution.h) if one supports it, else by ATen. If
/// its input has zero channels (PlannedNode::zeroChannels), the weight is widened for it.
std::unique_ptr<PlannedOperation> makePlannedConvolution(const PlannedBinding& binding);

}  // namespace tandem
