#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "data/loader/batch_maker.h"

namespace tandem {

struct ImageSize {
  int64_t height = 0, width = 0, channels = 0;
};

/// The position of an image in the network's input. `top` and `left` may be negative; that part is cut off.
struct ImagePlacement {
  int64_t top = 0, left = 0;
  bool flip = false;  ///< whether the whole input is mirrored horizontally

  bool operator==(const ImagePlacement&) const = default;
};

/// Where an image and its label are written: [H, W, 3], and labelBytes() bytes.
struct PlacedImage {
  std::span<uint8_t> image, label;
  std::vector<uint8_t>& bytes;  ///< working memory, kept from image to image
};

/// The image in the centre of an input of `height` x `width`.
ImagePlacement centred(const ImageSize& image, int64_t height, int64_t width);

/// The centre, then moved and flipped by the plan's augmentation; a function of (seed, epoch, index). Moving by up to
/// `padding` in each direction equals a random crop of the zero-padded input.
ImagePlacement placeImage(const BatchPlan& plan, const ImageSize& image, int64_t epoch, int64_t index);

/// Reads image `index` of a data set into the network's input, with its label.
void readPlaced(const Dataset& dataset, int64_t index, const ImagePlacement& placement, const ImageSize& input,
                const PlacedImage& out);

/// Copies image [h, w, c] to out [H, W, 3] with zeros around it; grey is repeated. REQUIRES: c is 1 or 3; sizes agree.
void copyPlaced(std::span<const uint8_t> image, const ImageSize& size, const ImagePlacement& placement,
                const ImageSize& input, std::span<uint8_t> out);

}  // namespace tandem
