#include "data/transform/augment.h"

#include <algorithm>
#include <cstring>

#include "data/transform/counter_random.h"

namespace tandem {
namespace {

template <int Channels>
void copyRow(const uint8_t* from, int64_t pixels, uint8_t* to, int64_t step) {
  for (int64_t x = 0; x < pixels; ++x, from += Channels, to += step) {
    to[0] = from[0];
    to[1] = from[Channels == 3 ? 1 : 0];
    to[2] = from[Channels == 3 ? 2 : 0];
  }
}

void copyPixels(const uint8_t* from, int64_t channels, int64_t pixels, uint8_t* to, bool backwards) {
  const int64_t step = backwards ? -3 : 3;
  if (channels == 1) {
    copyRow<1>(from, pixels, to, step);
  } else if (backwards) {
    copyRow<3>(from, pixels, to, step);
  } else {
    std::memcpy(to, from, static_cast<size_t>(3 * pixels));
  }
}

}  // namespace

std::span<const AugmentEntry> augments() {
  static constexpr AugmentEntry table[] = {
      {"standard", "random crop after zero padding of 4 pixels, random horizontal flip", 4, true},
      {"crop", "random crop after zero padding of 4 pixels", 4, false},
      {"none", "images as they are", 0, false},
  };
  return table;
}

ImagePlacement centred(const ImageSize& image, int64_t height, int64_t width) {
  return {(height - image.height) / 2, (width - image.width) / 2};
}

ImagePlacement placeImage(const BatchPlan& plan, const ImageSize& image, int64_t epoch, int64_t index) {
  ImagePlacement placement = centred(image, plan.height, plan.width);
  if (plan.augment == nullptr) return placement;
  CounterRandom random(randomKey(RandomUse::augment, plan.seed, epoch, index));
  const int64_t padding = plan.augment->padding;
  const auto positions = static_cast<uint64_t>(2 * padding + 1);
  placement.top += padding - static_cast<int64_t>(random.below(positions));
  placement.left += padding - static_cast<int64_t>(random.below(positions));
  placement.flip = random.below(2) == 1 && plan.augment->flip;
  return placement;
}

void copyPlaced(std::span<const uint8_t> image, const ImageSize& size, const ImagePlacement& placement,
                const ImageSize& input, std::span<uint8_t> out) {
  const int64_t rowBytes = input.width * 3;
  const int64_t firstX = std::max<int64_t>(placement.left, 0);
  const int64_t pixels = std::min(placement.left + size.width, input.width) - firstX;
  const int64_t target = placement.flip ? input.width - 1 - firstX : firstX;
  const bool whole = pixels == input.width;
  for (int64_t y = 0; y < input.height; ++y) {
    uint8_t* row = out.data() + y * rowBytes;
    const int64_t line = y - placement.top;
    const bool visible = line >= 0 && line < size.height && pixels > 0;
    if (!visible || !whole) std::memset(row, 0, static_cast<size_t>(rowBytes));
    if (!visible) continue;
    const uint8_t* from = image.data() + (line * size.width + firstX - placement.left) * size.channels;
    copyPixels(from, size.channels, pixels, row + 3 * target, placement.flip);
  }
}

void readPlaced(const Dataset& dataset, int64_t index, const ImagePlacement& placement, const ImageSize& input,
                const PlacedImage& out) {
  const DatasetInfo& info = dataset.info();
  const ImageSize size{info.height, info.width, info.channels};
  const bool fills = size.height == input.height && size.width == input.width && size.channels == input.channels;
  if (fills && placement == ImagePlacement{}) return dataset.get(index, out.image, out.label);
  out.bytes.resize(static_cast<size_t>(size.height * size.width * size.channels));
  dataset.get(index, out.bytes, out.label);
  copyPlaced(out.bytes, size, placement, input, out.image);
}

}  // namespace tandem
