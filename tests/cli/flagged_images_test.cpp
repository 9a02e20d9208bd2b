#include "cli/data/flagged_images.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "data/dataset/test_folder.h"

namespace tandem {
namespace {

/// Ten classes of 28 x 28 pixels, each of one brightness.
std::shared_ptr<const Dataset> figures(const TestFolder& folder) {
  constexpr uint32_t count = 20, bytes = 28 * 28;
  Bytes pixels(count * bytes), labels(count);
  for (uint32_t i = 0; i < count; ++i) {
    labels[i] = static_cast<uint8_t>(i % 10);
    std::fill_n(pixels.begin() + i * bytes, bytes, static_cast<uint8_t>(25 * (i % 10)));
  }
  folder.write("train-images-idx3-ubyte", idxBytes({count, 28, 28}, pixels));
  folder.write("train-labels-idx1-ubyte", idxBytes({count}, labels));
  return openDataset(folder.path());
}

TEST(FlaggedImages, AreAFunctionOfSeedAndIndex) {
  const TestFolder folder;
  const FlaggedImages images(figures(folder), 14, {64, 80, 3}, 1), again(figures(folder), 14, {64, 80, 3}, 1),
      other(figures(folder), 14, {64, 80, 3}, 2);
  EXPECT_EQ(images.make(5).image.pixels, again.make(5).image.pixels);
  EXPECT_EQ(images.make(5).flags, again.make(5).flags);
  EXPECT_NE(images.make(5).image.pixels, other.make(5).image.pixels);
  EXPECT_NE(images.make(5).image.pixels, images.make(6).image.pixels);
  EXPECT_EQ(images.make(5).image.height, 64);
  EXPECT_EQ(images.make(5).image.width, 80);
}

TEST(FlaggedImages, HaveEachFlagOftenAndAreGrey) {
  const FlaggedImages images(nullptr, 14, {64, 64, 3}, 1);
  std::vector<int64_t> of(14);
  int64_t without = 0;
  for (int64_t i = 0; i < 400; ++i) {
    const auto [image, flags] = images.make(i);
    for (size_t k = 0; k < of.size(); ++k) of[k] += flags[k];
    without += std::ranges::count(flags, 1) == 0 ? 1 : 0;
    for (size_t at = 0; at < image.pixels.size(); at += 3) {
      ASSERT_TRUE(image.pixels[at] == image.pixels[at + 1] && image.pixels[at] == image.pixels[at + 2]);
    }
  }
  EXPECT_GT(std::ranges::min(of), 20) << "one in eight of 400";
  EXPECT_LT(std::ranges::max(of), 90);
  EXPECT_GT(without, 20);
}

/// The brightest pixel.
uint8_t brightest(const Image& image) { return std::ranges::max(image.pixels); }

TEST(FlaggedImages, ShowAFigureExactlyIfTheyHaveItsFlag) {
  const TestFolder folder;
  const FlaggedImages black(figures(folder), 1, {32, 32, 3}, 3), pattern(nullptr, 1, {32, 32, 3}, 3);
  int64_t seen = 0;
  for (int64_t i = 0; i < 100; ++i) {
    const auto dark = black.make(i), light = pattern.make(i);
    ASSERT_EQ(dark.flags, light.flags) << "of the same seed";
    EXPECT_LT(brightest(dark.image), 200) << "class 0 is black";
    EXPECT_EQ(brightest(light.image) > 200, light.flags[0] == 1) << i;
    seen += light.flags[0];
  }
  EXPECT_GT(seen, 3);
}

TEST(FlaggedImages, SayHowSmallTheyMayBe) {
  EXPECT_EQ(FlaggedImages::leastSide(1), 8);
  EXPECT_EQ(FlaggedImages::leastSide(14), 32);
  EXPECT_EQ(FlaggedImages::leastSide(17), 40);
  const int64_t side = FlaggedImages::leastSide(17);
  const FlaggedImages images(nullptr, 17, {side, side, 3}, 1);
  for (int64_t i = 0; i < 50; ++i) EXPECT_EQ(images.make(i).image.height, side);
}

}  // namespace
}  // namespace tandem
