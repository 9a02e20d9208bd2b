#pragma once

#include <c10/core/ScalarType.h>

#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace tandem {

/// A row of the precision catalog. Batch-norm parameters and statistics, the loss and optimizer state are always fp32.
struct Precision {
  std::string_view name, summary;
  at::ScalarType compute;  ///< activations and the weights that kernels read
  at::ScalarType master;   ///< the weights that the optimizer updates
  at::ScalarType wire;     ///< gradients, as they are exchanged
  bool lossScaling;        ///< the exponents of `wire` are too few for gradients as they are (optim/loss_scale.h)
  bool onCpu = true;       ///< CPUs serve it
  int capability = 0;      ///< least compute capability of a GPU that serves it, 10 * major + minor; 0: any does
  bool tf32 = false;       ///< fp32 convolutions and products of matrices may round what they read to TF32
};

/// fp32, bf16, fp16, tf32.
std::span<const Precision> precisions();

/// The rule that a device breaks which does not serve the precision, and what to do; nothing where it does.
/// `capability` of a GPU, as in the row; none: a CPU.
std::optional<std::string> whyNotOn(std::optional<int> capability, const Precision& precision);

/// Whether libtorch's fp32 convolutions and products of matrices may compute in TF32, in the whole process; it would
/// let convolutions by itself.
void allowTf32(bool allowed);

}  // namespace tandem
