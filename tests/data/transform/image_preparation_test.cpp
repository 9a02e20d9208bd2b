#include "data/transform/image_preparation.h"

#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "base/catalog.h"
#include "base/error.h"
#include "base/text.h"
#include "data/dataset/image_files.h"
#include "support/tests_folder.h"

namespace tandem {
namespace {

using Bytes = std::vector<uint8_t>;

/// As pattern() of tests/golden/make_images.py.
Image pattern(int64_t height, int64_t width) {
  Image image{height, width, {}};
  for (int64_t y = 0; y < height; ++y) {
    for (int64_t x = 0; x < width; ++x) {
      for (int64_t c = 0; c < 3; ++c) {
        image.pixels.push_back(static_cast<uint8_t>(7 * y + 13 * x + 50 * c + 5 * (y * x % 11)));
      }
    }
  }
  return image;
}

Bytes prepared(const Image& image, const ImagePreparation& preparation) {
  Bytes out(static_cast<size_t>(preparation.crop * preparation.crop * 3));
  prepareImage(image, preparation, out);
  return out;
}

TEST(ImagePreparation, IsThatOfTorchvision) {
  std::ifstream file(concat(testsFolder(), "/golden/images/expected.json"));
  const auto cases = nlohmann::json::parse(file).at("prepared");
  ASSERT_EQ(cases.size(), 4U);
  for (const auto& row : cases) {
    const Image image = pattern(row.at("height"), row.at("width"));
    EXPECT_EQ(prepared(image, {.resize = row.at("resize"), .crop = row.at("crop")}), row.at("pixels").get<Bytes>())
        << image.height << 'x' << image.width;
  }
}

TEST(ImagePreparation, CanPutBlueFirst) {
  const Image image = pattern(20, 20);
  const Bytes rgb = prepared(image, {.resize = 20, .crop = 20}), bgr = prepared(image, {20, 20, true});
  for (size_t i = 0; i < rgb.size(); i += 3) ASSERT_EQ(rgb[i], bgr[i + 2]);
  EXPECT_EQ(rgb, image.pixels);
  EXPECT_NE(rgb, bgr);
}

// torchvision.transforms.Normalize as its models ask for it; preprocess_input of Keras in its modes tf and caffe.
TEST(Normalizations, AreThoseOfTorchvisionAndKeras) {
  struct Row {
    const char* name;
    std::array<double, 3> of255, of0;  // what the network reads, by channel as it reads them
    bool bgr;
  };
  const auto imagenet = [](double value) {
    return std::array{(value - 0.485) / 0.229, (value - 0.456) / 0.224, (value - 0.406) / 0.225};
  };
  const std::vector<Row> rows{{"imagenet", imagenet(1), imagenet(0), false},
                              {"symmetric", {1, 1, 1}, {-1, -1, -1}, false},
                              {"caffe", {151.061, 138.221, 131.32}, {-103.939, -116.779, -123.68}, true}};
  ASSERT_EQ(normalizations().size(), rows.size());
  for (const Row& row : rows) {
    const NormalizationEntry& entry = find(normalizations(), row.name, "--normalization");
    EXPECT_EQ(entry.bgr, row.bgr) << row.name;
    for (size_t channel = 0; channel < 3; ++channel) {
      const double mean = entry.normalization.mean.at(channel), deviation = entry.normalization.deviation.at(channel);
      EXPECT_NEAR((255 - mean) / deviation, row.of255.at(channel), 1e-5) << row.name;
      EXPECT_NEAR((0 - mean) / deviation, row.of0.at(channel), 1e-5) << row.name;
    }
  }
}

TEST(ImagePreparation, KnowsTheUsualSizes) {
  EXPECT_EQ(usualResize(224), 256);
  EXPECT_EQ(usualResize(299), 342);
  EXPECT_THROW(prepared(pattern(9, 9), {.resize = 8, .crop = 9}), InternalError);
}

TEST(ImagePreparation, RefusesWhatScalingWouldBlowUp) {
  const ImagePreparation preparation;
  EXPECT_FALSE(preparationFault({1, 1024, {}}, preparation));
  const auto fault = preparationFault({30'000, 1, {}}, preparation);
  ASSERT_TRUE(fault.has_value());
  EXPECT_EQ(*fault, "it is 1x30000 pixels; with a shorter side of 256 it would have 1966080000, the limit is 67108864");
}

TEST(ImageFiles, AreADataSetOfInputs) {
  const std::string folder = concat(testsFolder(), "/golden/images/");
  const auto files = imageFiles({folder + "rgb.jpg", folder + "cmyk.jpg", "/no/such.png"}, {.resize = 18, .crop = 16},
                                normalizations().front().normalization);
  EXPECT_EQ(files->size(), 3);
  EXPECT_EQ(files->info().height, 16);
  Bytes out(16 * 16 * 3), label(sizeof(int64_t));
  files->get(0, out, label);
  EXPECT_EQ(label, Bytes(sizeof(int64_t), 0xff)) << "no class is -1";
  EXPECT_NE(out, Bytes(out.size()));
  const auto failure = [&](int64_t index) -> std::string {
    try {
      files->get(index, out, label);
    } catch (const DataError& error) {
      return error.what();
    }
    return "accepted";
  };
  EXPECT_NE(failure(1).find("cmyk.jpg: its colours are CMYK"), std::string::npos) << failure(1);
  EXPECT_NE(failure(2).find("/no/such.png"), std::string::npos);
}

}  // namespace
}  // namespace tandem
