#pragma once

#include <span>
#include <string>
#include <string_view>

#include "data/transform/normalizations.h"
#include "data/transform/transform_chain.h"

namespace tandem {

/// A row of the named chains of training images.
struct AugmentEntry {
  std::string_view name, summary, chain;
  bool ofPixels = false, ofFiles = false;  ///< whether auto means it, for a data set of pixels and of image files
};

/// standard, crop, none, imagenet, airbench, chexnet, center.
std::span<const AugmentEntry> augments();

/// The chain that changes training images, with the name or the text by which it was asked for.
struct Augmentation {
  std::string text;
  TransformChain chain;
};

/// The row of this name, or the chain that the text is. Throws UsageError that names --augment.
Augmentation augmentationOf(std::string_view text);

/// The name of the chain that --augment=auto means.
std::string_view usualAugment(bool encoded);

/// With the transform of the normalization at the end; null: there is none.
TransformChain inOrderOf(const NormalizationEntry* normalization, TransformChain chain);

/// For pixels that are not changed: zeros around a smaller image.
const TransformChain& paddedOnly();

/// For image files on which a network is tested: scaled to this shorter side, and the middle cropped.
TransformChain scaledAndCropped(int64_t side, const Interpolation& by = interpolations().front());

}  // namespace tandem
