#include "data/transform/colour.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <cmath>
#include <utility>

namespace tandem {
namespace {

constexpr int brightness = 0, contrast = 1, saturation = 2, hue = 3;

/// A pixel's channels; each function below changes one pixel.
struct Colour {
  uint8_t red, green, blue;
};

// ATen adds products by fused operations, so these are fused too.
uint8_t grey(const Colour& of) {
  const float red = 0.2989F * static_cast<float>(of.red);
  const float withGreen = std::fma(0.587F, static_cast<float>(of.green), red);
  return static_cast<uint8_t>(std::fma(0.114F, static_cast<float>(of.blue), withGreen));
}

/// `factor` of the value and the rest of another one. Above 1 it goes away from the other.
struct Blend {
  explicit Blend(double part) : factor(static_cast<float>(part)), rest(static_cast<float>(1 - part)) {}

  uint8_t operator()(uint8_t value, float other) const {
    const float mixed = std::fma(rest, other, factor * static_cast<float>(value));
    return static_cast<uint8_t>(std::clamp(mixed, 0.0F, 255.0F));
  }
  Colour operator()(const Colour& of, float other) const {
    return {(*this)(of.red, other), (*this)(of.green, other), (*this)(of.blue, other)};
  }

  float factor, rest;
};

struct Hsv {
  float hue, saturation, value;  // each from 0 to 1
};

/// A. R. Smith: Color gamut transform pairs (SIGGRAPH 1978).
Hsv hsvOf(const Colour& of) {
  constexpr auto unit = static_cast<float>(1.0 / 255);
  const float red = static_cast<float>(of.red) * unit, green = static_cast<float>(of.green) * unit;
  const float blue = static_cast<float>(of.blue) * unit;
  const float most = std::max({red, green, blue}), least = std::min({red, green, blue});
  const bool isGrey = most == least;
  const float range = isGrey ? 1 : most - least;
  const float fromRed = (most - red) / range, fromGreen = (most - green) / range, fromBlue = (most - blue) / range;
  float sector = 4 + fromGreen - fromRed;
  if (most == red) {
    sector = fromBlue - fromGreen;
  } else if (most == green) {
    sector = 2 + fromRed - fromBlue;
  }
  return {std::fmod(sector * static_cast<float>(1.0 / 6) + 1, 1.0F), (most - least) / (isGrey ? 1 : most), most};
}

uint8_t byteOf(float fraction) { return static_cast<uint8_t>(fraction * 255.999F); }

Colour colourOf(const Hsv& of) {
  const float sixths = of.hue * 6, sector = std::floor(sixths), within = sixths - sector;
  const float white = 1 - of.saturation, product = of.saturation * within;
  const auto part = [&](float share) { return std::clamp(share * of.value, 0.0F, 1.0F); };
  const float low = part(white), falling = part(1 - product), rising = part(product + white);
  const auto colour = [](float red, float green, float blue) {
    return Colour{byteOf(red), byteOf(green), byteOf(blue)};
  };
  switch (static_cast<int>(sector) % 6) {
    case 0:
      return colour(of.value, rising, low);
    case 1:
      return colour(falling, of.value, low);
    case 2:
      return colour(low, of.value, rising);
    case 3:
      return colour(low, falling, of.value);
    case 4:
      return colour(rising, low, of.value);
    default:
      return colour(of.value, low, falling);
  }
}

Colour turned(const Colour& of, float angle) {
  Hsv changed = hsvOf(of);
  const float sum = changed.hue + angle, rest = std::fmod(sum, 1.0F);
  changed.hue = rest < 0 ? rest + 1 : rest;
  return colourOf(changed);
}

/// Memory [H, W, 3] of an image in channels-last order.
std::span<Colour> coloursOf(at::Tensor& image) {
  static_assert(sizeof(Colour) == 3);
  return {reinterpret_cast<Colour*>(image.mutable_data_ptr<uint8_t>()), static_cast<size_t>(image.numel() / 3)};
}

/// ATen's sum of floats is exact too, and so the same, up to 2^24: for 65,000 pixels at least.
float meanGrey(std::span<const Colour> colours) {
  int64_t sum = 0;
  for (const Colour& of : colours) sum += grey(of);
  return static_cast<float>(sum) / static_cast<float>(colours.size());
}

void change(at::Tensor& image, int which, double factor) {
  const std::span<Colour> colours = coloursOf(image);
  const auto each = [&](const auto& by) { std::ranges::transform(colours, colours.begin(), by); };
  const Blend blend(factor);
  if (which == hue) return each([angle = static_cast<float>(factor)](const Colour& of) { return turned(of, angle); });
  if (which == saturation) return each([&](const Colour& of) { return blend(of, static_cast<float>(grey(of))); });
  const float other = which == contrast ? meanGrey(colours) : 0;
  each([&](const Colour& of) { return blend(of, other); });
}

}  // namespace

Jitter drawJitter(const TransformValues& most, CounterRandom& random) {
  Jitter jitter;
  for (int last = 3; last > 0; --last) {
    const auto chosen = random.below(static_cast<uint64_t>(last) + 1);
    std::swap(jitter.order.at(static_cast<size_t>(last)), jitter.order.at(chosen));
  }
  for (int which = brightness; which <= hue; ++which) {
    const double range = most.at(static_cast<size_t>(which)), middle = which == hue ? 0 : 1;
    if (range > 0) jitter.factors.at(static_cast<size_t>(which)) = random.between(middle - range, middle + range);
  }
  return jitter;
}

at::Tensor jittered(const at::Tensor& image, const Jitter& jitter) {
  at::Tensor changed = at::empty_like(image, at::TensorOptions(), at::MemoryFormat::ChannelsLast).copy_(image);
  for (const int which : jitter.order) {
    if (const auto factor = jitter.factors.at(static_cast<size_t>(which))) change(changed, which, *factor);
  }
  return changed;
}

}  // namespace tandem
