#pragma once

#include <c10/core/ScalarType.h>

#include <span>
#include <string_view>

namespace tandem {

/// A row of the precision catalog. Batch-norm parameters and statistics, the loss and optimizer state are always fp32.
struct Precision {
  std::string_view name, summary;
  at::ScalarType compute;  ///< activations and the weights that kernels read
  at::ScalarType master;   ///< the weights that the optimizer updates
  at::ScalarType wire;     ///< gradients, as they are exchanged
  bool lossScaling;
};

std::span<const Precision> precisions();

}  // namespace tandem
