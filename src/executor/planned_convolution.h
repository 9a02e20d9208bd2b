#pragma once

#include <memory>

#include "executor/planned_operation.h"

namespace tandem {

/// A convolution of the plan: by kernels that can be chosen (kernels/conv/convolution.h) where they serve it, else by
/// ATen; behind it the weight's wide form where its input has channels of zeros (PlannedNode::zeroChannels).
std::unique_ptr<PlannedOperation> makePlannedConvolution(const PlannedBinding& binding);

}  // namespace tandem
