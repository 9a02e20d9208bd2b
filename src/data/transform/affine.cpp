#include "data/transform/affine.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <numbers>
#include <vector>

namespace tandem {
namespace {

constexpr int64_t taps = 4, channels = 3;

/// The cubic through neighbours, at `part` of the way from the second to the third. Keys: Cubic convolution
/// interpolation for digital image processing (IEEE Trans. ASSP 29, 1981), with a = -1.
double cubic(const std::array<double, taps>& at, double part) {
  const double slope = -at[0] + at[2], square = 2 * (at[0] - at[1]) + at[2] - at[3];
  const double cube = -at[0] + at[1] - at[2] + at[3];
  return at[1] + part * (slope + part * (square + part * cube));
}

/// The four neighbours of a position along a side, those outside taken from the edge.
struct Neighbours {
  Neighbours(double position, int64_t size) {
    const double begin = std::floor(position - 0.5);
    part = position - 0.5 - begin;
    for (int64_t i = 0; i < taps; ++i) {
      index.at(static_cast<size_t>(i)) = std::clamp<int64_t>(static_cast<int64_t>(begin) - 1 + i, 0, size - 1);
    }
  }

  std::array<int64_t, taps> index{};
  double part;
};

uint8_t clamped(double value) { return static_cast<uint8_t>(std::clamp(value, 0.0, 255.0)); }

void samplePixel(const uint8_t* from, int64_t width, const Neighbours& across, const Neighbours& down, uint8_t* to) {
  for (int64_t channel = 0; channel < channels; ++channel) {
    std::array<double, taps> rows{}, row{};
    for (size_t y = 0; y < taps; ++y) {
      for (size_t x = 0; x < taps; ++x) row[x] = from[(down.index[y] * width + across.index[x]) * channels + channel];
      rows[y] = cubic(row, across.part);
    }
    to[channel] = clamped(cubic(rows, down.part));
  }
}

/// To 15 digits behind the point, as Python's round(value, 15).
double to15Digits(double value) {
  std::array<char, 32> text{};
  const auto end = std::to_chars(text.begin(), text.end(), value, std::chars_format::fixed, 15).ptr;
  double rounded = 0;
  std::from_chars(text.begin(), end, rounded);
  return rounded;
}

}  // namespace

void moveAffine(const ByteImage& image, const AffineMatrix& origin, const std::array<uint8_t, 3>& fill) {
  const std::vector<uint8_t> source(image.bytes.begin(), image.bytes.end());
  const auto wide = static_cast<double>(image.width), high = static_cast<double>(image.height);
  uint8_t* out = image.bytes.data();
  for (int64_t row = 0; row < image.height; ++row) {
    const double y = static_cast<double>(row) + 0.5;
    for (int64_t column = 0; column < image.width; ++column, out += channels) {
      const double x = static_cast<double>(column) + 0.5;
      const double fromX = origin[0] * x + origin[1] * y + origin[2], fromY = origin[3] * x + origin[4] * y + origin[5];
      if (fromX < 0 || fromX >= wide || fromY < 0 || fromY >= high) {
        std::ranges::copy(fill, out);
      } else {
        samplePixel(source.data(), image.width, {fromX, image.width}, {fromY, image.height}, out);
      }
    }
  }
}

AffineMatrix turnOf(double degrees, int64_t height, int64_t width) {
  double positive = std::fmod(degrees, 360);
  if (positive < 0) positive += 360;
  const double angle = -(positive * (std::numbers::pi / 180));
  const double cosine = to15Digits(std::cos(angle)), sine = to15Digits(std::sin(angle));
  const double x = static_cast<double>(width) / 2, y = static_cast<double>(height) / 2;
  return {cosine, sine, cosine * -x + sine * -y + x, -sine, cosine, -sine * -x + cosine * -y + y};
}

}  // namespace tandem
