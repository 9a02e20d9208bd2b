#include "device/precision.h"

namespace tandem {

std::span<const Precision> precisions() {
  static constexpr Precision table[] = {
      {"fp32", "32-bit floats everywhere", at::kFloat, at::kFloat, at::kFloat, false},
      {"bf16", "bfloat16 activations, weights and gradients; fp32 master weights, statistics and loss", at::kBFloat16,
       at::kFloat, at::kBFloat16, false},
  };
  return table;
}

}  // namespace tandem
