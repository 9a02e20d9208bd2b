#include "data/transform/working_image.h"

#include <gtest/gtest.h>

#include <optional>
#include <vector>

namespace tandem {
namespace {

using Bytes = std::vector<uint8_t>;

constexpr int64_t height = 40, width = 60;

Bytes source() {
  Bytes pixels;
  for (int64_t i = 0; i < height * width * 3; ++i) pixels.push_back(static_cast<uint8_t>(i * 31 % 251));
  return pixels;
}

Bytes written(WorkingImage& image) {
  Bytes out(static_cast<size_t>(image.height() * image.width() * 3));
  image.write(out);
  return out;
}

/// Decodes parts of source() by leaving pixels out, and keeps what was asked for.
struct Decoder {
  std::optional<ImagePart> asked = {};
  int calls = 0;
  Image found = {};

  WorkingImage image() {
    return {{height, width}, [this](const ImagePart& part) -> const Image& {
              asked = part;
              ++calls;
              found = {(part.height + part.shrink - 1) / part.shrink, (part.width + part.shrink - 1) / part.shrink, {}};
              const Bytes pixels = source();
              for (int64_t y = 0; y < found.height; ++y) {
                for (int64_t x = 0; x < found.width; ++x) {
                  const int64_t at = (part.top + y * part.shrink) * width + part.left + x * part.shrink;
                  found.pixels.insert(found.pixels.end(), pixels.begin() + 3 * at, pixels.begin() + 3 * at + 3);
                }
              }
              return found;
            }};
  }
};

// Whatever moves the window gives the same pixels as with all of them at hand.
TEST(LazyImage, IsTheImageThatWasDecodedAsAWhole) {
  const Bytes pixels = source();
  const std::vector<void (*)(WorkingImage&)> changes{
      [](WorkingImage&) {},
      [](WorkingImage& image) {
        image.crop({5, 7, 20, 30});
      },
      [](WorkingImage& image) {
        image.mirror(), image.crop({5, 7, 20, 30});
      },
      [](WorkingImage& image) {
        image.crop({-4, -6, 50, 70}), image.crop({0, 3, 30, 50});
      },
      [](WorkingImage& image) {
        image.crop({-20, 0, 10, 60});
      },  // outside
      [](WorkingImage& image) {
        image.crop({1, 1, 30, 40}), image.resize(31, 29), image.mirror();
      },
      [](WorkingImage& image) {
        image.crop({-3, 1, 43, 40}), image.resize(10, 10);
      },
  };
  for (size_t i = 0; i < changes.size(); ++i) {
    WorkingImage whole(pixels, {height, width, 3});
    Decoder decoder;
    WorkingImage lazy = decoder.image();
    changes[i](whole), changes[i](lazy);
    EXPECT_EQ(written(lazy), written(whole)) << i;
    EXPECT_LE(decoder.calls, 1) << i;
  }
}

TEST(LazyImage, AsksForWhatIsSeenOnly) {
  Decoder decoder;
  WorkingImage image = decoder.image();
  image.crop({5, 7, 20, 30}), image.crop({1, 2, 10, 12});
  EXPECT_EQ(decoder.calls, 0);
  written(image);
  ASSERT_TRUE(decoder.asked.has_value());
  EXPECT_EQ(decoder.asked->top, 6);
  EXPECT_EQ(decoder.asked->left, 9);
  EXPECT_EQ(decoder.asked->height, 10);
  EXPECT_EQ(decoder.asked->width, 12);
  EXPECT_EQ(decoder.asked->shrink, 1);
}

TEST(LazyImage, AReducedPartIsTheWholeOfWhatIsSeen) {
  const Bytes pixels = source();
  for (const bool mirrored : {false, true}) {
    Decoder decoder;
    WorkingImage image = decoder.image();
    image.crop({4, 8, 20, 40});
    if (mirrored) image.mirror();
    image.resize(10, 20);
    const Bytes out = written(image);
    for (int64_t y = 0; y < 10; ++y) {
      for (int64_t x = 0; x < 20; ++x) {
        const int64_t column = 8 + 2 * (mirrored ? 19 - x : x);
        EXPECT_EQ(out[static_cast<size_t>(3 * (y * 20 + x))],
                  pixels[static_cast<size_t>(3 * ((4 + 2 * y) * width + column))]);
      }
    }
  }
}

TEST(LazyImage, AsksForTheSmallestSizeThatIsEnough) {
  const auto shrinkFor = [](int64_t rows, int64_t columns) {
    Decoder decoder;
    WorkingImage image = decoder.image();
    image.resize(rows, columns);
    EXPECT_EQ(image.height(), rows);
    EXPECT_EQ(image.width(), columns);
    return decoder.asked ? decoder.asked->shrink : 0;
  };
  EXPECT_EQ(shrinkFor(40, 60), 0) << "nothing to scale";
  EXPECT_EQ(shrinkFor(21, 30), 1);
  EXPECT_EQ(shrinkFor(20, 31), 1);
  EXPECT_EQ(shrinkFor(20, 30), 2);
  EXPECT_EQ(shrinkFor(10, 15), 4);
  EXPECT_EQ(shrinkFor(5, 7), 8);
  EXPECT_EQ(shrinkFor(1, 1), 8);
  EXPECT_EQ(shrinkFor(80, 120), 1);
}

}  // namespace
}  // namespace tandem
