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

/// A row of --gradient-precision: a type to which gradients are rounded for the exchange.
struct GradientPrecision {
  std::string_view name, summary;
  at::ScalarType type;
  bool lossScaling;  ///< Precision::lossScaling
};

/// fp32, bf16, fp16.
std::span<const GradientPrecision> gradientPrecisions();

/// The row of a type. Throws InternalError if there is none.
const GradientPrecision& gradientPrecisionOf(at::ScalarType type);

/// The precision with its gradients exchanged in another type. The result lives as long as the catalogs. REQUIRES: rows
/// of both.
const Precision& withGradients(const Precision& precision, const GradientPrecision& exchanged);

/// Whether gradients lose bits when they are rounded for the exchange. Their own type is `compute`.
bool roundsGradients(const Precision& precision);

/// Why a device does not support the precision, and the remedy; nullopt: it does. `capability`: that of a GPU, as in
/// the row; nullopt: a CPU.
std::optional<std::string> whyNotOn(std::optional<int> capability, const Precision& precision);

/// Sets whether libtorch may compute fp32 convolutions and matrix products in TF32, in the whole process. By default
/// libtorch allows it for convolutions.
void allowTf32(bool allowed);

}  // namespace tandem
