#include "data/writer/sample_converter.h"

#include <gtest/gtest.h>

#include "base/error.h"
#include "data/dataset/test_folder.h"
#include "support/idx_images.h"
#include "support/text_of_failure.h"

namespace tandem {
namespace {

TEST(SampleConverter, RefusesLabelsThatCannotBe) {
  DatasetInfo info;
  info.height = info.width = 4, info.channels = 3;
  class Mislabelled final : public Dataset {
   public:
    explicit Mislabelled(DatasetInfo info) : info_(std::move(info)) {}
    const DatasetInfo& info() const override { return info_; }
    int64_t size() const override { return 1; }
    Sample read(int64_t, std::vector<uint8_t>& memory, std::span<uint8_t> label) const override {
      memory.resize(48);
      storeClass(label_, label);
      return {.bytes = memory, .height = 4, .width = 4, .channels = 3};
    }
    int64_t label_ = 7;

   private:
    DatasetInfo info_;
  };
  const auto refusal = [&](int64_t label, int64_t known) {
    info.classes = known;
    auto images = std::make_shared<Mislabelled>(info);
    images->label_ = label;
    return textOfFailure<DataError>([&] { SampleConverter(images, {}).make(0); });
  };
  EXPECT_NE(refusal(7, 7).find("its label is 7, of 7 classes it must be from 0 to 6; check the data"),
            std::string::npos);
  EXPECT_EQ(refusal(6, 7), "");
  EXPECT_EQ(refusal(7, 0), "") << "their number is not known";
  EXPECT_NE(refusal(-1, 0), "");
}

TEST(SampleConverter, CropsTheMiddleOfAScaledImageAsTransformsDo) {
  DatasetInfo info;
  info.height = 20, info.width = 90, info.channels = 3, info.classes = 2;
  const std::shared_ptr<const Dataset> images = syntheticDataset(3, info, 1);
  const SampleConverter converter(images, {.side = 10});
  EXPECT_EQ(converter.info().height, 10);
  EXPECT_EQ(converter.info().width, 10);
  Bytes memory, label(8), wanted(300);
  for (int64_t i = 0; i < 3; ++i) {
    WorkingImage image(images->read(i, memory, label).bytes, {20, 90, 3});
    image.resize(10, 45);
    image.crop({0, 18, 10, 10});
    image.write(wanted);
    const WrittenSample sample = converter.make(i);
    EXPECT_EQ(sample.bytes, wanted);
    EXPECT_EQ(sample.label, label);
    EXPECT_EQ(sample.format, nullptr);
  }
}

TEST(SampleConverter, MakesOneChannelOfThreeAsPillowDoes) {
  DatasetInfo info;
  info.height = info.width = 2, info.channels = 3, info.classes = 2;
  const std::shared_ptr<const Dataset> images = syntheticDataset(1, info, 1);
  const SampleConverter converter(images, {.grey = true});
  EXPECT_EQ(converter.info().channels, 1);
  Bytes memory, label(8), wanted;
  const Sample sample = images->read(0, memory, label);
  for (size_t i = 0; i < 12; i += 3) {
    const auto* const p = sample.bytes.data() + i;
    wanted.push_back(static_cast<uint8_t>(0.299 * p[0] + 0.587 * p[1] + 0.114 * p[2] + 0.5));
  }
  EXPECT_EQ(converter.make(0).bytes, wanted);
  const TestFolder folder;
  writeIdxImages(folder.path(), 3);
  const std::shared_ptr<const Dataset> grey = openDataset(folder.path());
  EXPECT_EQ(SampleConverter(grey, {.grey = true}).make(2).bytes, SampleConverter(grey, {}).make(2).bytes);
}

TEST(SampleConverter, KeepsFilesOfOneFormatAlone) {
  const auto row = [](size_t i) -> const ImageFormat& { return imageFormats()[i]; };
  EXPECT_EQ(fileBreach({}, row(0)), "");
  EXPECT_EQ(fileBreach({.onlyFiles = "png"}, row(1)), "");
  EXPECT_EQ(fileBreach({.onlyFiles = "png"}, row(0)),
            "it is a JPEG file, and png files alone have a place; give --samples=png with --size");
}

}  // namespace
}  // namespace tandem
