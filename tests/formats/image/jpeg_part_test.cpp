#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <iterator>

#include "base/text.h"
#include "formats/image/encode.h"
#include "formats/image/image.h"
#include "support/tests_folder.h"

namespace tandem {
namespace {

using Bytes = std::vector<uint8_t>;

/// Smooth, with some grain.
Image photograph(int64_t height, int64_t width) {
  Image image{height, width, {}};
  for (int64_t y = 0; y < height; ++y) {
    for (int64_t x = 0; x < width; ++x) {
      for (int64_t c = 0; c < 3; ++c) {
        const double wave = std::sin(0.031 * static_cast<double>(y) + static_cast<double>(c)) +
                            std::cos(0.023 * static_cast<double>(x) - static_cast<double>(c));
        const auto grain = static_cast<double>((y * 7919 + x * 104729 + c * 31) % 17);
        image.pixels.push_back(static_cast<uint8_t>(120 + 50 * wave + grain));
      }
    }
  }
  return image;
}

Bytes jpegOf(const Image& image) { return imageEncodings().front().encode(image); }

uint8_t at(const Image& image, int64_t y, int64_t x, int64_t channel) {
  return image.pixels[static_cast<size_t>((y * image.width + x) * 3 + channel)];
}

/// The mean of the pixels that one pixel of a reduced image stands for.
double meanOf(const Image& whole, const ImagePart& part, int64_t y, int64_t x, int64_t channel) {
  const int64_t top = part.top / part.shrink * part.shrink + y * part.shrink;
  const int64_t left = part.left / part.shrink * part.shrink + x * part.shrink;
  double sum = 0;
  int64_t count = 0;
  for (int64_t row = top; row < std::min(whole.height, top + part.shrink); ++row) {
    for (int64_t column = left; column < std::min(whole.width, left + part.shrink); ++column, ++count) {
      sum += at(whole, row, column, channel);
    }
  }
  return sum / static_cast<double>(count);
}

/// Decibels between a part and the same of the whole image.
double closeness(const Image& part, const ImagePart& asked, const Image& whole) {
  double squares = 0;
  for (int64_t y = 0; y < part.height; ++y) {
    for (int64_t x = 0; x < part.width; ++x) {
      for (int64_t c = 0; c < 3; ++c) squares += std::pow(at(part, y, x, c) - meanOf(whole, asked, y, x, c), 2);
    }
  }
  return 10 * std::log10(255 * 255 * static_cast<double>(std::ssize(part.pixels)) / squares);
}

TEST(JpegPart, IsNearlyThatOfTheWholeImage) {
  for (const auto& [height, width] : {std::pair{375, 500}, {333, 251}, {64, 48}}) {
    const Bytes bytes = jpegOf(photograph(height, width));
    const Image whole = decodeImage(bytes).value();
    for (const int64_t shrink : {1, 2, 4, 8}) {
      for (const ImagePart part :
           {ImagePart{0, 0, height, width, shrink}, ImagePart{height / 3, width / 5, height / 2, width / 3, shrink},
            ImagePart{height - 17, width - 23, 17, 23, shrink}, ImagePart{7, 9, 1, 1, shrink}}) {
        SCOPED_TRACE(concat(width, 'x', height, ", 1/", shrink, ", ", part.width, 'x', part.height, " at ", part.left,
                            ", ", part.top));
        const auto found = decodeImagePart(bytes, part);
        ASSERT_TRUE(found.ok()) << found.error().text;
        const int64_t rows = (part.top + part.height + shrink - 1) / shrink - part.top / shrink;
        const int64_t columns = (part.left + part.width + shrink - 1) / shrink - part.left / shrink;
        ASSERT_EQ(found.value().height, rows);
        ASSERT_EQ(found.value().width, columns);
        EXPECT_GT(closeness(found.value(), part, whole), 30);
      }
    }
  }
}

Bytes golden(const std::string& name) {
  std::ifstream file(concat(testsFolder(), "/golden/images/", name), std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

TEST(JpegPart, ServesEachKindOfJpeg) {
  for (const std::string name : {"rgb.jpg", "grey.jpg", "progressive.jpg"}) {
    const auto extent = partExtent(golden(name));
    ASSERT_TRUE(extent.ok()) << name;
    const Image whole = decodeImage(golden(name)).value();
    EXPECT_EQ(extent.value().height, whole.height) << name;
    EXPECT_EQ(extent.value().width, whole.width) << name;
    const ImagePart part{1, 2, whole.height - 3, whole.width - 2, 1};
    const auto found = decodeImagePart(golden(name), part);
    ASSERT_TRUE(found.ok()) << name << ": " << found.error().text;
    EXPECT_EQ(std::ssize(found.value().pixels), part.height * part.width * 3) << name;
  }
  const auto png = partExtent(golden("rgb.png"));
  ASSERT_TRUE(png.ok());
  EXPECT_EQ(png.value().height, 0) << "decoded as a whole";
}

TEST(JpegPart, RefusesWhatTheWholeImageIsRefusedFor) {
  const auto refusal = [](const Bytes& bytes, const ImageLimits& limits = {}) {
    const auto extent = partExtent(bytes, limits);
    if (!extent) return extent.error().text;
    const auto found = decodeImagePart(bytes, {0, 0, extent.value().height, extent.value().width, 1});
    return found ? std::string("accepted") : found.error().text;
  };
  const auto expectRefused = [&](const std::string& found, std::string_view part) {
    EXPECT_NE(found.find(part), std::string::npos) << found;
  };
  expectRefused(refusal({}), "the file is empty");
  expectRefused(refusal(golden("cmyk.jpg")), "CMYK");
  expectRefused(refusal(golden("rgb.jpg"), {.pixels = 100}), "the limits are");
  expectRefused(refusal(golden("progressive.jpg"), {.scans = 2}), "scans; the limit is 2");
  for (const std::string name : {"rgb.jpg", "grey.jpg", "progressive.jpg"}) {
    const Bytes whole = golden(name);
    for (const size_t percent : {1, 10, 50, 90}) {
      expectRefused(refusal({whole.begin(), whole.begin() + static_cast<int64_t>(whole.size() * percent / 100)}),
                    "damaged");
    }
  }
}

}  // namespace
}  // namespace tandem
