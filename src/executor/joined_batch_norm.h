#pragma once

#include "executor/aten_ops.h"

namespace tandem {

/// batch_norm in training over the batches of all replicas, made of operations with derivatives. REQUIRES:
/// a.statistics.
at::Tensor joinedBatchNorm(OperationArguments& a);

}  // namespace tandem
