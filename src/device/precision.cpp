#include "device/precision.h"

#include <ATen/Context.h>

#include <vector>

#include "base/text.h"
#include "machine/gpu/gpu_facts.h"

namespace tandem {

std::span<const Precision> precisions() {
  static constexpr Precision table[] = {
      {"fp32", "32-bit floats everywhere", at::kFloat, at::kFloat, at::kFloat, false},
      {"bf16", "bfloat16 activations, weights and gradients; fp32 master weights, statistics and loss", at::kBFloat16,
       at::kFloat, at::kBFloat16, false, true, 80},
      {"fp16", "half activations, weights and gradients with a scaled loss; fp32 master weights, statistics and loss",
       at::kHalf, at::kFloat, at::kHalf, true, true, 53},
      {"tf32", "fp32, but convolutions and products of matrices may round what they read to 10 bits of fraction",
       at::kFloat, at::kFloat, at::kFloat, false, false, 80, true},
  };
  return table;
}

namespace {

bool serves(std::optional<int> capability, const Precision& precision) {
  return capability ? *capability >= precision.capability : precision.onCpu;
}

}  // namespace

std::optional<std::string> whyNotOn(std::optional<int> capability, const Precision& precision) {
  if (serves(capability, precision)) return std::nullopt;
  std::vector<std::string> others;
  for (const Precision& other : precisions()) {
    if (serves(capability, other)) others.emplace_back(other.name);
  }
  const auto is = capability ? concat("this GPU has ", capabilityText(*capability)) : std::string("this is a CPU");
  return concat(precision.name, " needs a GPU of compute capability ", capabilityText(precision.capability),
                " or higher, ", is, "; use --precision=", join(others, " or "));
}

void allowTf32(bool allowed) {
  at::globalContext().setAllowTF32CuDNN(allowed);
  at::globalContext().setAllowTF32CuBLAS(allowed);
}

}  // namespace tandem
