#include "data/transform/transform.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <cmath>

#include "base/catalog.h"
#include "base/error.h"
#include "base/text.h"
#include "data/transform/colour.h"
#include "data/transform/rand_augment.h"
#include "data/transform/reflection.h"
#include "data/transform/rotation.h"

namespace tandem {
namespace {

constexpr double largestSide = 16384;
constexpr int tries = 10;  // of random_resized_crop

/// Halves are rounded to even, as Python does.
int64_t rounded(double value) { return static_cast<int64_t>(std::nearbyint(value)); }

/// Where a crop of `size` begins in the middle of `all`, which may be smaller.
int64_t centreOf(int64_t all, int64_t size) {
  return all >= size ? rounded(static_cast<double>(all - size) / 2) : -((size - all) / 2);
}

void centerCrop(WorkingImage& image, const TransformValues& values, const TransformContext& context) {
  const auto [height, width, channels] = sideOf(values, context.input);
  image.crop({centreOf(image.height(), height), centreOf(image.width(), width), height, width});
}

/// Anywhere in the image with `padding` zeros around it.
void randomCrop(WorkingImage& image, const TransformValues& values, const TransformContext& context) {
  const ImageSize side = sideOf(values, context.input);
  const auto padding = static_cast<int64_t>(values[1]);
  const auto begin = [&](int64_t all, int64_t size) {
    const int64_t room = all + 2 * padding - size;
    if (room < 0) {
      throw DataError(concat("it is ", image.width(), 'x', image.height(),
                             " pixels, which is smaller than random_crop's ", side.width, 'x', side.height));
    }
    return static_cast<int64_t>(context.draw.random.below(static_cast<uint64_t>(room + 1))) - padding;
  };
  const int64_t top = begin(image.height(), side.height), left = begin(image.width(), side.width);
  image.crop({top, left, side.height, side.width});
}

const Interpolation& interpolationOf(double value) { return interpolations()[static_cast<size_t>(value)]; }

void randomResized(WorkingImage& image, const TransformValues& values, const TransformContext& context) {
  image.crop(randomResizedCrop(image.height(), image.width(), values, context.draw.random));
  const auto [height, width, channels] = sideOf(values, context.input);
  image.resize(height, width, interpolationOf(values[4]));
}

void resize(WorkingImage& image, const TransformValues& values, const TransformContext& context) {
  const ImageSize scaled = scaledSize({image.height(), image.width()}, values, context.input);
  image.resize(scaled.height, scaled.width, interpolationOf(values[1]));
}

void flip(WorkingImage& image, const TransformValues& values, const TransformContext& context) {
  if (context.draw.random.fraction() >= 1 - values[0]) image.mirror();
}

/// A fair draw decides for the first epoch; each epoch is the mirror image of the one before.
void flipInTurns(WorkingImage& image, const TransformValues&, const TransformContext& context) {
  CounterRandom draw = context.draw.ofImage;
  const bool inFirst = draw.fraction() < 0.5, isOdd = context.draw.epoch % 2 == 1;
  if (inFirst != isOdd) image.mirror();
}

void reflect(WorkingImage& image, const TransformValues& values, const TransformContext&) {
  const auto border = static_cast<int64_t>(values[0]);
  const int64_t height = image.height(), width = image.width(), shorter = std::min(height, width);
  if (border >= shorter) {
    throw DataError(concat("a side of it has ", shorter, " pixels, and reflect:", border, " needs more than ", border));
  }
  image.replace(reflectedWindow(image.pixels(), {-border, -border, height + 2 * border, width + 2 * border}));
}

/// By whole pixels, up to this part of each side.
void shift(WorkingImage& image, const TransformValues& values, const TransformContext& context) {
  const auto along = [&](int64_t size) {
    const double most = values[0] * static_cast<double>(size);
    return rounded(context.draw.random.between(-most, most));
  };
  const int64_t right = along(image.width()), down = along(image.height());
  image.crop({-down, -right, image.height(), image.width()});
}

void rotate(WorkingImage& image, const TransformValues& values, const TransformContext& context) {
  image.replace(rotated(image.pixels(), context.draw.random.between(-values[0], values[0])));
}

void jitter(WorkingImage& image, const TransformValues& values, const TransformContext& context) {
  image.replace(jittered(image.pixels(), drawJitter(values, context.draw.random)));
}

void randAugment(WorkingImage& image, const TransformValues& values, const TransformContext& context) {
  const std::vector<RandStep> steps = drawRandAugment(values, context.draw.random);
  if (!steps.empty()) image.replace(randAugmented(image.pixels(), steps));
}

void exchangeRedAndBlue(WorkingImage& image, const TransformValues&, const TransformContext&) {
  image.replace(image.pixels().flip(1));
}

constexpr TransformParameter side{"side", 0, 0, largestSide, true};
constexpr TransformParameter interpolation{"interpolation", 0, 0, 1, true, [] { return namesOf(interpolations()); }};
constexpr TransformParameter ofCrop[] = {side};
constexpr TransformParameter ofResize[] = {side, interpolation};
constexpr TransformParameter ofRandomCrop[] = {side, {"padding", 0, 0, 1024, true}};
constexpr TransformParameter ofRandomResized[] = {side,
                                                  {"least area", 0.08, 1e-6, 1, false},
                                                  {"most area", 1, 1e-6, 1, false},
                                                  {"ratio", 4.0 / 3, 1, 100, false},
                                                  interpolation};
constexpr TransformParameter ofReflect[] = {{"border", 4, 1, 1024, true}};
constexpr TransformParameter ofFlip[] = {{"probability", 0.5, 0, 1, false}};
constexpr TransformParameter ofShift[] = {{"part", 0.1, 0, 1, false}};
constexpr TransformParameter ofRotation[] = {{"degrees", 10, 0, 180, false}};
constexpr TransformParameter ofJitter[] = {{"brightness", 0.4, 0, 1, false},
                                           {"contrast", 0.4, 0, 1, false},
                                           {"saturation", 0.4, 0, 1, false},
                                           {"hue", 0.1, 0, 0.5, false}};
constexpr TransformParameter ofRandAugment[] = {{"operations", 2, 1, 100, true},
                                                {"magnitude", 9, 0, mostMagnitude, false},
                                                {"deviation", 0.5, 0, 100, false},
                                                {"probability", 0.5, 0, 1, false}};

using Size = TransformedSize;

constexpr TransformEntry table[] = {
    {"pad", "zeros around an image that is no larger than the side", ofCrop, Size::padded, centerCrop},
    {"reflect", "a border of so many pixels in which the image is mirrored", ofReflect, Size::grown, reflect},
    {"center_crop", "the middle; a smaller image gets zeros around it", ofCrop, Size::side, centerCrop},
    {"random_crop", "a part anywhere in the image, with zeros of this padding around it", ofRandomCrop, Size::cropped,
     randomCrop},
    {"random_resized_crop", "a part of random area and ratio of its sides, scaled to the side", ofRandomResized,
     Size::side, randomResized},
    {"resize", "the shorter side scaled to this one, without a value to 256/224 of the input", ofResize, Size::scaled,
     resize},
    {"flip", "left and right exchanged", ofFlip, Size::same, flip},
    {"alternating_flip",
     "left and right exchanged in every other epoch, of half of the images in the even ones",
     {},
     Size::same,
     flipInTurns},
    {"shift", "moved by up to this part of each side, with zeros behind", ofShift, Size::same, shift},
    {"rotation", "turned by up to so many degrees, with zeros in the corners", ofRotation, Size::same, rotate},
    {"color_jitter", "brightness, contrast, saturation and hue changed by up to these", ofJitter, Size::same, jitter},
    {"rand_augment", "operations chosen at random, each with this probability, of magnitudes around this one",
     ofRandAugment, Size::same, randAugment},
    {"bgr", "red and blue exchanged", {}, Size::same, exchangeRedAndBlue},
};

}  // namespace

std::span<const TransformEntry> transforms() { return table; }

ImageSize sideOf(const TransformValues& values, const ImageSize& input) {
  const auto side = static_cast<int64_t>(values[0]);
  return side == 0 ? input : ImageSize{side, side, input.channels};
}

ImageSize scaledSize(const ImageSize& image, const TransformValues& values, const ImageSize& input) {
  const auto given = static_cast<int64_t>(values[0]);
  const int64_t side = given != 0 ? given : usualResize(std::min(input.height, input.width));
  const int64_t shorter = std::min(image.height, image.width);
  return {side * image.height / shorter, side * image.width / shorter, image.channels};
}

// Ten tries for a random area and ratio that fit; else the largest part in the middle whose ratio is allowed.
ImageWindow randomResizedCrop(int64_t height, int64_t width, const TransformValues& values, CounterRandom& random) {
  const double area = static_cast<double>(height) * static_cast<double>(width);
  const double greatest = values[3], least = 1 / greatest;
  for (int attempt = 0; attempt < tries; ++attempt) {
    const double target = area * random.between(values[1], values[2]);
    const double ratio = std::exp(random.between(std::log(least), std::log(greatest)));
    const int64_t wide = rounded(std::sqrt(target * ratio)), high = rounded(std::sqrt(target / ratio));
    if (wide < 1 || wide > width || high < 1 || high > height) continue;
    const auto top = static_cast<int64_t>(random.below(static_cast<uint64_t>(height - high + 1)));
    const auto left = static_cast<int64_t>(random.below(static_cast<uint64_t>(width - wide + 1)));
    return {top, left, high, wide};
  }
  const double own = static_cast<double>(width) / static_cast<double>(height);
  const int64_t wide = own > greatest ? rounded(static_cast<double>(height) * greatest) : width;
  const int64_t high = own < least ? rounded(static_cast<double>(width) / least) : height;
  return {(height - high) / 2, (width - wide) / 2, high, wide};
}

int64_t usualResize(int64_t crop) { return std::lround(static_cast<double>(crop) * 256 / 224); }

}  // namespace tandem
