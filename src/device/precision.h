#pragma once

#include <c10/core/ScalarType.h>

#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace tandem {

/// A row of the precision catalog. Batch-norm parameters and statistics, the loss, and optimizer state are always fp32.
struct Precision {
  std::string_view name, summary;
  at::ScalarType compute;  ///< type of activations and of the weights that kernels read
  at::ScalarType master;   ///< type of the weights that the optimizer updates
  at::ScalarType wire;     ///< type of gradients as they are exchanged
  bool lossScaling;        ///< gradients need a scaled loss to stay within the exponents of `wire` (optim/loss_scale.h)
  bool onCpu = true;       ///< whether CPUs support it
  int capability = 0;      ///< least compute capability of a GPU that supports it, 10 * major + minor; 0: any
  bool tf32 = false;       ///< fp32 convolutions and matrix products may round their inputs to TF32
};

/// fp32, bf16, fp16, tf32.
std::span<const Precision> precisions();

/// Why a device does not support the precision, and the remedy; nullopt: it does. `capability`: that of a GPU, as in
/// the row; nullopt: a CPU.
std::optional<std::string> whyNotOn(std::optional<int> capability, const Precision& precision);

/// Sets whether libtorch may compute fp32 convolutions and matrix products in TF32, in the whole process. By default
/// libtorch allows it for convolutions.
void allowTf32(bool allowed);

}  // namespace tandem
