#include "data/transform/enhancement.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

namespace tandem {
namespace {

constexpr size_t channels = 3;

using Histogram = std::array<int64_t, 256>;

/// Gives each channel the table that is made of its histogram.
void mapChannels(const ByteImage& image, ByteTable (*tableOf)(const Histogram&)) {
  for (size_t channel = 0; channel < channels; ++channel) {
    Histogram histogram{};
    for (size_t i = channel; i < image.bytes.size(); i += channels) ++histogram.at(image.bytes[i]);
    const ByteTable table = tableOf(histogram);
    for (size_t i = channel; i < image.bytes.size(); i += channels) image.bytes[i] = table.at(image.bytes[i]);
  }
}

ByteTable unchanged() {
  ByteTable table{};
  std::iota(table.begin(), table.end(), uint8_t{0});
  return table;
}

ByteTable stretching(const Histogram& histogram) {
  const auto isThere = [](int64_t count) { return count > 0; };
  const auto least = std::ranges::find_if(histogram, isThere) - histogram.begin();
  const auto most = 255 - (std::find_if(histogram.rbegin(), histogram.rend(), isThere) - histogram.rbegin());
  if (most <= least) return unchanged();
  const double scale = 255.0 / static_cast<double>(most - least), offset = static_cast<double>(-least) * scale;
  ByteTable table{};
  for (size_t i = 0; i < table.size(); ++i) {
    table.at(i) = static_cast<uint8_t>(std::clamp(static_cast<double>(i) * scale + offset, 0.0, 255.0));
  }
  return table;
}

ByteTable levelling(const Histogram& histogram) {
  const int64_t pixels = std::reduce(histogram.begin(), histogram.end());
  const auto last = std::find_if(histogram.rbegin(), histogram.rend(), [](int64_t count) { return count > 0; });
  const int64_t step = (pixels - *last) / 255;
  if (step == 0) return unchanged();
  ByteTable table{};
  int64_t before = step / 2;
  for (size_t i = 0; i < table.size(); ++i) {
    table.at(i) = static_cast<uint8_t>(std::min<int64_t>(255, before / step));
    before += histogram.at(i);
  }
  return table;
}

/// By the weights of ITU-R 601, in 16 bits behind the point.
uint8_t greyOf(const uint8_t* pixel) {
  return static_cast<uint8_t>((19595 * pixel[0] + 38470 * pixel[1] + 7471 * pixel[2] + 0x8000) >> 16);
}

/// The way from the other value to this one, of which the whole is 1.
uint8_t blended(uint8_t other, uint8_t value, float factor) {
  const float mixed = static_cast<float>(other) + factor * static_cast<float>(value - other);
  return static_cast<uint8_t>(std::clamp(mixed, 0.0F, 255.0F));
}

/// A weighted mean of nine pixels, the middle one five times; the edge stays. In Pillow's order of sums.
std::vector<uint8_t> smoothed(const ByteImage& image) {
  constexpr float side = 1.0F / 13, middle = 5.0F / 13;
  std::vector<uint8_t> out(image.bytes.begin(), image.bytes.end());
  const auto row = static_cast<size_t>(image.width) * channels;
  const auto three = [&](size_t i, float centre) {
    const auto at = [&](size_t where) { return static_cast<float>(image.bytes[where]); };
    return at(i - channels) * side + at(i) * centre + at(i + channels) * side;
  };
  for (size_t y = 1; y + 1 < static_cast<size_t>(image.height); ++y) {
    for (size_t i = y * row + channels; i + channels < (y + 1) * row; ++i) {
      const float sum = ((0.5F + three(i + row, side)) + three(i, middle)) + three(i - row, side);
      out[i] = static_cast<uint8_t>(std::clamp(sum, 0.0F, 255.0F));
    }
  }
  return out;
}

}  // namespace

void mapBytes(const ByteImage& image, const ByteTable& table) {
  for (uint8_t& byte : image.bytes) byte = table.at(byte);
}

void autoContrast(const ByteImage& image) { mapChannels(image, stretching); }

void equalize(const ByteImage& image) { mapChannels(image, levelling); }

void enhanceColour(const ByteImage& image, double factor) {
  for (size_t i = 0; i < image.bytes.size(); i += channels) {
    const uint8_t grey = greyOf(&image.bytes[i]);
    for (uint8_t& byte : image.bytes.subspan(i, channels)) byte = blended(grey, byte, static_cast<float>(factor));
  }
}

void enhanceContrast(const ByteImage& image, double factor) {
  int64_t sum = 0;
  for (size_t i = 0; i < image.bytes.size(); i += channels) sum += greyOf(&image.bytes[i]);
  const double pixels = static_cast<double>(image.bytes.size()) / channels;
  const auto mean = static_cast<uint8_t>(static_cast<double>(sum) / pixels + 0.5);
  for (uint8_t& byte : image.bytes) byte = blended(mean, byte, static_cast<float>(factor));
}

void enhanceBrightness(const ByteImage& image, double factor) {
  for (uint8_t& byte : image.bytes) byte = blended(0, byte, static_cast<float>(factor));
}

void enhanceSharpness(const ByteImage& image, double factor) {
  const std::vector<uint8_t> smooth = smoothed(image);
  for (size_t i = 0; i < smooth.size(); ++i) {
    image.bytes[i] = blended(smooth[i], image.bytes[i], static_cast<float>(factor));
  }
}

}  // namespace tandem
