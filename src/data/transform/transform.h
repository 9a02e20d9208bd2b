#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "data/transform/counter_random.h"
#include "data/transform/working_image.h"

namespace tandem {

/// A number that a transform takes.
struct TransformParameter {
  std::string_view name;
  double fallback, least, most;
  bool whole;  ///< whether it must be a whole number
  /// Words that stand for 0, 1 and so on, and for no other parameter of the transform. Null: it is given as a number.
  std::vector<std::string> (*words)() = nullptr;
};

/// Values of a transform's parameters, in their order.
using TransformValues = std::array<double, 5>;

/// The random numbers of an image in an epoch.
struct ImageDraw {
  CounterRandom random{0};   ///< others in each epoch
  CounterRandom ofImage{0};  ///< the same in all
  int64_t epoch = 0;
};

/// What a transform knows beside its values: the size that the network reads, and the random numbers of this image.
struct TransformContext {
  ImageSize input;
  ImageDraw& draw;
};

/// What a transform does to the size of an image.
enum class TransformedSize {
  same,
  side,     ///< that of its first parameter, whatever it was
  padded,   ///< as `side`, but a larger image is refused
  cropped,  ///< as `side`, but an image that is smaller, with its second parameter as a border, is refused
  scaled,   ///< in proportion
  grown,    ///< by its first parameter on each edge
};

/// A row of the catalog of transforms. Each that torchvision has too, but RandAugment, computes the same, on tensors of
/// bytes.
struct TransformEntry {
  std::string_view name, summary;
  std::span<const TransformParameter> parameters;  ///< those with words at the end
  TransformedSize size;
  void (*apply)(WorkingImage& image, const TransformValues& values, const TransformContext& context);
};

/// pad, reflect, center_crop, random_crop, random_resized_crop, resize, flip, alternating_flip, shift, rotation,
/// color_jitter, rand_augment, bgr.
std::span<const TransformEntry> transforms();

/// The side that a transform's first value asks for, [H, W]; 0 takes the network's input.
ImageSize sideOf(const TransformValues& values, const ImageSize& input);

/// The size of an image whose shorter side is scaled to the transform's first value, the longer one in proportion,
/// rounded down; 0 takes usualResize() of the network's input.
ImageSize scaledSize(const ImageSize& image, const TransformValues& values, const ImageSize& input);

/// The part of an image of this size that random_resized_crop sees, as torchvision chooses it.
ImageWindow randomResizedCrop(int64_t height, int64_t width, const TransformValues& values, CounterRandom& random);

/// 256/224 of the crop, rounded: 256 for 224, 342 for 299.
int64_t usualResize(int64_t crop);

}  // namespace tandem
