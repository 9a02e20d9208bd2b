#pragma once

#include <ATen/core/Tensor.h>

#include <array>
#include <optional>

#include "data/transform/transform.h"

namespace tandem {

/// Factors of brightness, contrast and saturation, of which 1 changes nothing, and an angle that is added to the hue,
/// in full turns. None: not changed.
using JitterFactors = std::array<std::optional<double>, 4>;

/// A change of colours: the factors, and the order in which they are applied.
struct Jitter {
  JitterFactors factors;
  std::array<int, 4> order{0, 1, 2, 3};
};

/// A random change. `most`: of each; a most of 0 gives none.
Jitter drawJitter(const TransformValues& most, CounterRandom& random);

/// The changed image. As torchvision's adjust_brightness, adjust_contrast, adjust_saturation and adjust_hue of tensors,
/// to the bit. REQUIRES: [1, 3, H, W], bytes.
at::Tensor jittered(const at::Tensor& image, const Jitter& jitter);

}  // namespace tandem
