#include "data/transform/transform.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <fstream>
#include <map>
#include <nlohmann/json.hpp>

#include "base/catalog.h"
#include "base/error.h"
#include "base/text.h"
#include "data/transform/colour.h"
#include "data/transform/noise.h"
#include "data/transform/rotation.h"
#include "data/transform/transform_chain.h"
#include "formats/image/image.h"
#include "formats/io/checksum.h"
#include "support/tests_folder.h"

namespace tandem {
namespace {

using Bytes = std::vector<uint8_t>;

Bytes written(WorkingImage& image) {
  Bytes out(static_cast<size_t>(image.height() * image.width() * 3));
  image.write(out);
  return out;
}

/// Applies a row that takes no random numbers.
void applyRow(WorkingImage& image, const std::string& chain) {
  ImageDraw none;
  TransformChain::parse(chain, "--augment").apply(image, {.input = {224, 224, 3}, .draw = none});
}

void jitter(WorkingImage& image, size_t which, double factor) {
  Jitter change;
  change.factors.at(which) = factor;
  image.replace(jittered(image.pixels(), change));
}

using Numbers = std::vector<double>;

const std::map<std::string, void (*)(WorkingImage& image, const Numbers& numbers)> transformsOfNumbers{
    {"resize", [](WorkingImage& image, const Numbers& numbers) { applyRow(image, concat("resize:", numbers[0])); }},
    {"center_crop",
     [](WorkingImage& image, const Numbers& numbers) { applyRow(image, concat("center_crop:", numbers[0])); }},
    {"resized_crop",
     [](WorkingImage& image, const Numbers& numbers) {
       const auto at = [&](size_t i) { return static_cast<int64_t>(numbers.at(i)); };
       image.crop({at(0), at(1), at(2), at(3)});
       image.resize(at(4), at(4));
     }},
    {"resize_bicubic",
     [](WorkingImage& image, const Numbers& numbers) { applyRow(image, concat("resize:", numbers[0], ":bicubic")); }},
    {"resized_crop_bicubic",
     [](WorkingImage& image, const Numbers& numbers) {
       const auto at = [&](size_t i) { return static_cast<int64_t>(numbers.at(i)); };
       image.crop({at(0), at(1), at(2), at(3)});
       image.resize(at(4), at(4), find(interpolations(), "bicubic", "interpolation"));
     }},
    {"mirror", [](WorkingImage& image, const Numbers&) { image.mirror(); }},
    {"shift",
     [](WorkingImage& image, const Numbers& numbers) {
       const auto down = static_cast<int64_t>(numbers[0]), right = static_cast<int64_t>(numbers[1]);
       image.crop({-down, -right, image.height(), image.width()});
     }},
    {"rotation",
     [](WorkingImage& image, const Numbers& numbers) { image.replace(rotated(image.pixels(), numbers[0])); }},
    {"brightness", [](WorkingImage& image, const Numbers& numbers) { jitter(image, 0, numbers[0]); }},
    {"contrast", [](WorkingImage& image, const Numbers& numbers) { jitter(image, 1, numbers[0]); }},
    {"saturation", [](WorkingImage& image, const Numbers& numbers) { jitter(image, 2, numbers[0]); }},
    {"hue", [](WorkingImage& image, const Numbers& numbers) { jitter(image, 3, numbers[0]); }},
};

TEST(Transforms, AreThoseOfTorchvisionToTheBit) {
  std::ifstream file(concat(testsFolder(), "/golden/images/transforms.json"));
  const auto cases = nlohmann::json::parse(file);
  ASSERT_EQ(cases.size(), 240U);
  std::map<std::string, int> seen;
  for (size_t seed = 0; seed < cases.size(); ++seed) {
    const auto& row = cases[seed];
    const int64_t height = row.at("height"), width = row.at("width");
    const Bytes pixels = noise(static_cast<uint64_t>(height), static_cast<uint64_t>(width), seed);
    WorkingImage image(pixels, {height, width, 3});
    const std::string name = row.at("transform");
    transformsOfNumbers.at(name)(image, row.at("numbers").get<Numbers>());
    EXPECT_EQ((std::vector<int64_t>{image.height(), image.width()}), row.at("size").get<std::vector<int64_t>>()) << row;
    EXPECT_EQ(sha256Of(written(image)), row.at("sha256").get<std::string>()) << row;
    ++seen[name];
  }
  EXPECT_EQ(seen.size(), transformsOfNumbers.size());
}

// As torchvision's Resize and CenterCrop prepare pattern() of tests/golden/make_images.py.
TEST(Transforms, PrepareAsTorchvisionDoes) {
  std::ifstream file(concat(testsFolder(), "/golden/images/expected.json"));
  const auto cases = nlohmann::json::parse(file).at("prepared");
  ASSERT_EQ(cases.size(), 4U);
  for (const auto& row : cases) {
    const int64_t height = row.at("height"), width = row.at("width"), crop = row.at("crop");
    Bytes pixels;
    for (int64_t y = 0; y < height; ++y) {
      for (int64_t x = 0; x < width; ++x) {
        for (int64_t c = 0; c < 3; ++c)
          pixels.push_back(static_cast<uint8_t>(7 * y + 13 * x + 50 * c + 5 * (y * x % 11)));
      }
    }
    WorkingImage image(pixels, {height, width, 3});
    applyRow(image, concat("resize:", row.at("resize").get<int64_t>(), "+center_crop:", crop));
    EXPECT_EQ(written(image), row.at("pixels").get<Bytes>()) << height << 'x' << width;
  }
}

// The definition, with ATen operations on an image with a wide border of zeros.
at::Tensor cropOf(const at::Tensor& image, const ImageWindow& part) {
  constexpr int64_t margin = 40;
  at::Tensor wide = at::zeros({image.size(0) + 2 * margin, image.size(1) + 2 * margin, 3}, at::kByte);
  wide.narrow(0, margin, image.size(0)).narrow(1, margin, image.size(1)).copy_(image);
  return wide.narrow(0, margin + part.top, part.height).narrow(1, margin + part.left, part.width).contiguous();
}

TEST(WorkingImage, CropsAndMirrorsInAnyOrder) {
  for (const int64_t channels : {1, 3}) {
    const at::Tensor pixels = at::arange(1, 5 * 6 * channels + 1).to(at::kByte).view({5, 6, channels});
    const std::span bytes(pixels.const_data_ptr<uint8_t>(), static_cast<size_t>(pixels.numel()));
    CounterRandom random(1);
    for (int trial = 0; trial < 400; ++trial) {
      WorkingImage image(bytes, {5, 6, channels});
      at::Tensor expected = pixels.expand({5, 6, 3}).contiguous();
      for (int step = 0; step < 4; ++step) {
        if (random.below(2) == 1) {
          image.mirror();
          expected = expected.flip({1});
        }
        const auto offset = [&] { return static_cast<int64_t>(random.below(9)) - 4; };
        const ImageWindow part{offset(), offset(), 1 + offset() + 4, 1 + offset() + 4};
        image.crop(part);
        expected = cropOf(expected, part);
      }
      at::Tensor out = at::full({image.height(), image.width(), 3}, 255, at::kByte);
      image.write({out.mutable_data_ptr<uint8_t>(), static_cast<size_t>(out.numel())});
      ASSERT_TRUE(at::equal(out, expected)) << channels << " channels, trial " << trial;
      ASSERT_TRUE(at::equal(image.pixels()[0].permute({1, 2, 0}), expected));
    }
  }
}

TEST(WorkingImage, RefusesWhatScalingWouldBlowUp) {
  const Bytes line(3 * 30'000);
  WorkingImage image(line, {30'000, 1, 3});
  try {
    image.resize(7'680'000, 256);
    ADD_FAILURE() << "not refused";
  } catch (const DataError& error) {
    EXPECT_STREQ(error.what(),
                 "it is 1x30000 pixels; scaled to 256x7680000 it would have 1966080000, the limit is 67108864");
  }
}

TEST(Transforms, KnowTheUsualSizes) {
  EXPECT_EQ(usualResize(224), 256);
  EXPECT_EQ(usualResize(299), 342);
}

TEST(RandomResizedCrop, ChoosesAreasAndRatiosWithinItsBounds) {
  const TransformValues values{0, 0.08, 1, 4.0 / 3};
  double least = 1, most = 0;
  for (uint64_t key = 0; key < 5000; ++key) {
    CounterRandom random(mixBits(key));
    const ImageWindow part = randomResizedCrop(375, 500, values, random);
    ASSERT_TRUE(part.top >= 0 && part.left >= 0 && part.bottom() <= 375 && part.right() <= 500);
    const double area = static_cast<double>(part.height * part.width) / (375.0 * 500);
    const double ratio = static_cast<double>(part.width) / static_cast<double>(part.height);
    EXPECT_TRUE(ratio > 0.73 && ratio < 1.36) << ratio;
    least = std::min(least, area), most = std::max(most, area);
  }
  EXPECT_NEAR(least, 0.08, 0.01);
  EXPECT_NEAR(most, 1, 0.01);
}

TEST(RandomResizedCrop, TakesTheMiddleOfAnImageThatIsTooNarrow) {
  const TransformValues values{0, 0.9, 1, 4.0 / 3};
  CounterRandom random(1);
  EXPECT_EQ(randomResizedCrop(10, 100, values, random), (ImageWindow{0, 43, 10, 13}));
  EXPECT_EQ(randomResizedCrop(100, 10, values, random), (ImageWindow{43, 0, 13, 10}));
}

TEST(ColorJitter, DrawsEachOrderAndStaysWithinItsBounds) {
  std::map<std::array<int, 4>, int> orders;
  for (uint64_t key = 0; key < 2400; ++key) {
    CounterRandom random(mixBits(key));
    const Jitter jitter = drawJitter({0.4, 0, 0.2, 0.1}, random);
    ++orders[jitter.order];
    EXPECT_TRUE(*jitter.factors[0] >= 0.6 && *jitter.factors[0] <= 1.4);
    EXPECT_FALSE(jitter.factors[1].has_value());
    EXPECT_TRUE(*jitter.factors[3] >= -0.1 && *jitter.factors[3] <= 0.1);
  }
  EXPECT_EQ(orders.size(), 24U);
}

/// The text of the refusal; empty: none.
std::string refusal(const std::string& chain) {
  try {
    TransformChain::parse(chain, "--augment");
  } catch (const UsageError& error) {
    return error.what();
  }
  return "";
}

TEST(TransformChain, ReadsValuesAndKeepsThoseLeftOut) {
  const TransformChain chain = TransformChain::parse("random_resized_crop:96:0.5+flip+color_jitter", "--augment");
  ASSERT_EQ(chain.steps().size(), 3U);
  EXPECT_EQ(chain.steps()[0].values, (TransformValues{96, 0.5, 1, 4.0 / 3}));
  EXPECT_EQ(chain.steps()[1].values[0], 0.5);
  EXPECT_EQ(chain.steps()[2].entry->name, "color_jitter");
}

TEST(TransformChain, ReadsWordsInAnyPlace) {
  const auto values = [](const char* text) { return TransformChain::parse(text, "--augment").steps()[0].values; };
  EXPECT_EQ(values("random_resized_crop:bicubic"), (TransformValues{0, 0.08, 1, 4.0 / 3, 1}));
  EXPECT_EQ(values("random_resized_crop:96:bicubic:0.5"), (TransformValues{96, 0.5, 1, 4.0 / 3, 1}));
  EXPECT_EQ(values("random_resized_crop"), values("random_resized_crop:bilinear"));
  EXPECT_EQ(values("resize:264:bicubic"), (TransformValues{264, 1}));
}

TEST(TransformChain, RefusesWhatItCannotRead) {
  EXPECT_NE(refusal("resise:264").find("unknown --augment 'resise'; did you mean 'resize'?"), std::string::npos);
  EXPECT_EQ(refusal("flip:2"), "--augment: flip:2: its probability is '2', which must be a number from 0 to 1");
  EXPECT_EQ(
      refusal("resize:8.5"),
      "--augment: resize:8.5: its side is '8.5', which must be a whole number from 0 to 16384, or its interpolation: "
      "bilinear, bicubic");
  EXPECT_EQ(refusal("flip+center_crop:a"),
            "--augment: center_crop:a: its side is 'a', which must be a whole number from 0 to 16384");
  EXPECT_EQ(refusal("resize:8:9"),
            "--augment: resize:8:9: resize takes at most 1 value, and its interpolation: bilinear, bicubic");
  EXPECT_NE(refusal("resize:bicubic:bilinear"), "");
  EXPECT_EQ(refusal("bgr:1"), "--augment: bgr:1: bgr takes no value");
  EXPECT_EQ(refusal("flip:0.1:0.2"), "--augment: flip:0.1:0.2: flip takes at most 1 value");
  EXPECT_NE(refusal("flip+"), "");
  EXPECT_NE(refusal("flip:nan"), "");
}

TEST(TransformChain, KnowsWhetherImagesFit) {
  const auto fault = [](const char* chain, const ImageSize& images) {
    return TransformChain::parse(chain, "--augment").fault(images, {224, 224, 3});
  };
  const ImageSize any{}, large{300, 400, 3};
  EXPECT_EQ(fault("resize:256+center_crop", any), "");
  EXPECT_EQ(fault("resize:264+random_crop:224+flip", any), "");
  EXPECT_EQ(fault("flip", {224, 224, 3}), "");
  EXPECT_EQ(fault("resize:224", {32, 32, 3}), "");
  EXPECT_EQ(fault("pad", any), "images are of any size but pad takes none larger than 224x224");
  EXPECT_EQ(fault("pad", large), "images are 400x300 pixels but pad takes none larger than 224x224");
  EXPECT_EQ(fault("resize:224", any), "images come out in sizes of their own but the network's input is 224x224");
  EXPECT_EQ(fault("resize:224", large), "images come out as 298x224 but the network's input is 224x224");
  EXPECT_EQ(fault("resize:200+random_crop", any), "images have a side of 200 pixels but random_crop takes 224x224");
  EXPECT_EQ(fault("resize:200+random_crop:0:12", any), "");
  EXPECT_EQ(fault("center_crop:200", any), "images come out as 200x200 but the network's input is 224x224");
}

// As torch.nn.functional.pad with mode="reflect".
TEST(Transforms, ABorderIsTheMirrorImage) {
  const Bytes pixels{1, 2, 3, 4, 5, 6};
  WorkingImage image(pixels, {2, 3, 1});
  applyRow(image, "reflect:1");
  ASSERT_EQ(image.height(), 4);
  ASSERT_EQ(image.width(), 5);
  Bytes first;
  const Bytes all = written(image);
  for (size_t i = 0; i < all.size(); i += 3) first.push_back(all[i]);
  EXPECT_EQ(first, (Bytes{5, 4, 5, 6, 5, 2, 1, 2, 3, 2, 5, 4, 5, 6, 5, 2, 1, 2, 3, 2}));
  WorkingImage small(pixels, {2, 3, 1});
  try {
    applyRow(small, "reflect:2");
    ADD_FAILURE() << "not refused";
  } catch (const DataError& error) {
    EXPECT_STREQ(error.what(), "a side of it has 2 pixels, and reflect:2 needs more than 2");
  }
  const auto chain = TransformChain::parse("reflect:2+random_crop:36", "--augment");
  EXPECT_EQ(chain.fault({32, 32, 3}, {36, 36, 3}), "");
  EXPECT_NE(chain.fault({31, 31, 3}, {36, 36, 3}), "");
}

TEST(Transforms, EveryOtherEpochIsTheMirrorImageOfTheOneBefore) {
  const Bytes pixels(12);
  const auto isMirrored = [&](uint64_t key, int64_t epoch) {
    WorkingImage image(pixels, {2, 2, 3});
    ImageDraw draw{.random = CounterRandom(mixBits(key + static_cast<uint64_t>(epoch))),
                   .ofImage = CounterRandom(mixBits(key)),
                   .epoch = epoch};
    TransformChain::parse("alternating_flip", "--augment").apply(image, {.input = {2, 2, 3}, .draw = draw});
    return image.mirrored();
  };
  int mirrored = 0;
  for (uint64_t key = 0; key < 2000; ++key) {
    mirrored += isMirrored(key, 0) ? 1 : 0;
    for (int64_t epoch = 1; epoch < 5; ++epoch) EXPECT_NE(isMirrored(key, epoch), isMirrored(key, epoch - 1));
  }
  EXPECT_NEAR(mirrored, 1000, 120);
}

TEST(Transforms, EachRowRunsOnAnImage) {
  const Bytes pixels = noise(40, 30, 1);
  for (const TransformEntry& entry : transforms()) {
    WorkingImage image(pixels, {40, 30, 3});
    ImageDraw draw{.random = CounterRandom(6), .ofImage = CounterRandom(6), .epoch = 1};
    TransformChain::parse(entry.name, "--augment").apply(image, {.input = {24, 24, 3}, .draw = draw});
    EXPECT_EQ(written(image).size(), static_cast<size_t>(image.height() * image.width() * 3)) << entry.name;
    EXPECT_NE(written(image), pixels) << entry.name;
  }
}

}  // namespace
}  // namespace tandem
