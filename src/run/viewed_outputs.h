#pragma once

#include <ATen/core/Tensor.h>

#include "data/transform/views.h"
#include "executor/executor.h"

namespace tandem {

/// The network's first output for the images of a batch: the weighted mean over their views. Valid until the next
/// forward pass. REQUIRES: the executor evaluates; with several views the loss of the network has a head.
at::Tensor viewedOutputs(Executor& executor, const Batch& batch, const ViewsEntry& views);

}  // namespace tandem
