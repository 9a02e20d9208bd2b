#include "data/transform/normalizations.h"

#include <gtest/gtest.h>

#include <vector>

#include "base/catalog.h"
#include "data/transform/augment.h"

namespace tandem {
namespace {

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
    EXPECT_EQ(!entry.transform.empty(), row.bgr) << row.name;
    for (size_t channel = 0; channel < 3; ++channel) {
      const double mean = entry.normalization.mean.at(channel), deviation = entry.normalization.deviation.at(channel);
      EXPECT_NEAR((255 - mean) / deviation, row.of255.at(channel), 1e-5) << row.name;
      EXPECT_NEAR((0 - mean) / deviation, row.of0.at(channel), 1e-5) << row.name;
    }
  }
}

TEST(Normalizations, OfBlueFirstExchangeRedAndBlue) {
  const std::vector<uint8_t> pixels{1, 2, 3, 4, 5, 6};
  for (const NormalizationEntry& entry : normalizations()) {
    WorkingImage image(pixels, {1, 2, 3});
    ImageDraw none;
    inOrderOf(&entry, paddedOnly()).apply(image, {.input = {1, 2, 3}, .draw = none});
    std::vector<uint8_t> out(6);
    image.write(out);
    EXPECT_EQ(out, !entry.transform.empty() ? (std::vector<uint8_t>{3, 2, 1, 6, 5, 4}) : pixels) << entry.name;
  }
}

}  // namespace
}  // namespace tandem
