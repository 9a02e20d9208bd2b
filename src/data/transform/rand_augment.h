#pragma once

#include <ATen/core/Tensor.h>

#include <vector>

#include "data/transform/rand_operations.h"
#include "data/transform/transform.h"

namespace tandem {

/// An operation and what it takes.
struct RandStep {
  const RandOperation* operation;
  double value;
};

/// Operations in their order, which may repeat. Each of values[0] drawn ones is left out with a probability of 1 -
/// values[3]. Magnitudes are normally distributed about values[1] with deviation values[2], cut at 0 and mostMagnitude.
/// As timm's RandAugment "inc1"; Cubuk et al. 2019, arXiv:1909.13719.
std::vector<RandStep> drawRandAugment(const TransformValues& values, CounterRandom& random);

/// The changed image, [1, 3, H, W] in bytes; of one that is seen as [1, 3, H, W] in bytes.
at::Tensor randAugmented(const at::Tensor& image, std::span<const RandStep> steps);

}  // namespace tandem
