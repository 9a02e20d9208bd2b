#pragma once

#include <span>
#include <string_view>

#include "data/transform/byte_image.h"

namespace tandem {

constexpr double mostMagnitude = 10;

/// A row of the operations of RandAugment, with timm's "increasing" severities. Computed as Pillow does, to the bit.
struct RandOperation {
  std::string_view name;
  bool bothWays;  ///< whether the level is negated with a probability of a half
  /// What `apply` takes, of a level from -1 to 1, which is the magnitude over mostMagnitude.
  double (*valueOf)(double level);
  void (*apply)(const ByteImage& image, double value);
};

std::span<const RandOperation> randOperations();

}  // namespace tandem
