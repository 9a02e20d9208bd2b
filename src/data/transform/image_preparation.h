#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "formats/image/image.h"
#include "kernels/tensor/normalize.h"

namespace tandem {

/// A row of --normalization: the form in which a trained network expects pixels.
struct NormalizationEntry {
  std::string_view name, summary;
  Normalization normalization;  ///< of the channels in the network's order
  bool bgr;                     ///< whether blue is first
};

/// imagenet (torchvision, timm), symmetric (-1 to 1), caffe (Keras' ResNet and VGG).
std::span<const NormalizationEntry> normalizations();

/// How an image of any size becomes an input. It is scaled so that its shorter side has `resize` pixels, the longer one
/// in proportion, rounded down. Then `crop` x `crop` pixels are taken from its middle. As torchvision's Resize and
/// CenterCrop of tensors: bilinear with anti-aliasing, in bytes.
struct ImagePreparation {
  int64_t resize = 256;
  int64_t crop = 224;
  bool bgr = false;
};

/// 256/224 of the crop, rounded: 256 for 224, 342 for 299.
int64_t usualResize(int64_t crop);

/// Why an image cannot be prepared; nullopt: it can. A narrow image may have more pixels than ImageLimits once scaled.
std::optional<std::string> preparationFault(const Image& image, const ImagePreparation& preparation);

/// Writes out [crop, crop, 3]. REQUIRES: resize >= crop; preparationFault() is nullopt.
void prepareImage(const Image& image, const ImagePreparation& preparation, std::span<uint8_t> out);

}  // namespace tandem
