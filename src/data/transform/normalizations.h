#pragma once

#include <span>
#include <string_view>

#include "kernels/tensor/normalize.h"

namespace tandem {

/// A row of --normalization: the form in which a trained network expects pixels.
struct NormalizationEntry {
  std::string_view name, summary;
  Normalization normalization;      ///< of the channels in the network's order
  std::string_view transform = {};  ///< of the pixels before: "bgr" where blue is first
};

/// imagenet (torchvision, timm), symmetric (-1 to 1), caffe (Keras' ResNet and VGG).
std::span<const NormalizationEntry> normalizations();

/// Of image files by --normalization=auto: that of ImageNet.
const Normalization& usualNormalization();

}  // namespace tandem
