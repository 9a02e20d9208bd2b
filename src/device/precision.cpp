#include "device/precision.h"

#include <ATen/Context.h>

#include <algorithm>
#include <vector>

#include "base/error.h"
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

std::span<const GradientPrecision> gradientPrecisions() {
  static constexpr GradientPrecision table[] = {
      {"fp32", "32-bit floats", at::kFloat, false},
      {"bf16", "bfloat16: half of the bytes of fp32, 8 bits of precision, the same exponents", at::kBFloat16, false},
      {"fp16", "half: half of the bytes of fp32, 11 bits of precision, few exponents; the loss is scaled", at::kHalf,
       true},
  };
  return table;
}

const GradientPrecision& gradientPrecisionOf(at::ScalarType type) {
  const auto row = std::ranges::find(gradientPrecisions(), type, &GradientPrecision::type);
  check(row != gradientPrecisions().end(), "gradients are exchanged in a type of the catalog");
  return *row;
}

namespace {

/// Each precision with each type of gradients, one precision after the other.
std::vector<Precision> allWithGradients() {
  std::vector<Precision> all;
  for (Precision precision : precisions()) {
    const bool scaled = precision.lossScaling;
    for (const GradientPrecision& exchanged : gradientPrecisions()) {
      precision.wire = exchanged.type;
      precision.lossScaling = scaled || exchanged.lossScaling;
      all.push_back(precision);
    }
  }
  return all;
}

}  // namespace

const Precision& withGradients(const Precision& precision, const GradientPrecision& exchanged) {
  static const std::vector<Precision> all = allWithGradients();
  const auto row = std::ranges::find_if(
      all, [&](const Precision& other) { return other.name == precision.name && other.wire == exchanged.type; });
  check(row != all.end(), "a precision of the catalog has gradients in every type");
  return *row;
}

bool roundsGradients(const Precision& precision) {
  return precision.wire != precision.compute && c10::elementSize(precision.wire) <= c10::elementSize(precision.compute);
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
