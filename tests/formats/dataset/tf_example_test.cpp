#include "formats/dataset/tf_example.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdio>
#include <fstream>

#include "base/error.h"
#include "support/example_records.h"

namespace tandem {
namespace {

using namespace records;

std::span<const uint8_t> bytesOf(const std::string& text) {
  return {reinterpret_cast<const uint8_t*>(text.data()), text.size()};
}

std::string refusal(const std::string& example) {
  const auto parsed = parseImageExample(bytesOf(example));
  return parsed ? "" : parsed.error().text;
}

TEST(ImageExample, IsReadInTheFormsOfImageNetAndOfDatasets) {
  const auto imagenet = parseImageExample(bytesOf(imageNetExample("jpeg", 7)));
  ASSERT_TRUE(imagenet.ok()) << imagenet.error().text;
  EXPECT_EQ(imagenet.value().image, "jpeg");
  EXPECT_EQ(imagenet.value().label, 6) << "labels of ImageNet's scripts count from 1";
  const auto datasets = parseImageExample(bytesOf(example(numberFeature("label", 7) + bytesFeature("image", "png"))));
  ASSERT_TRUE(datasets.ok()) << datasets.error().text;
  EXPECT_EQ(datasets.value().label, 7);
}

TEST(ImageExample, IsWrittenAsImageNetsScriptsDo) {
  const std::string image = "jpeg";
  const NewExample wanted{.image = bytesOf(image), .label = 6, .format = "JPEG", .className = "cat"};
  const std::string bytes = imageExampleOf(wanted);
  const auto parsed = parseImageExample(bytesOf(bytes));
  ASSERT_TRUE(parsed.ok()) << parsed.error().text;
  EXPECT_EQ(parsed.value().image, image);
  EXPECT_EQ(parsed.value().label, 6);
  EXPECT_EQ(bytes, imageExampleOf(wanted));
  for (const std::string& part : {numberFeature("image/class/label", 7), bytesFeature("image/class/text", "cat"),
                                  bytesFeature("image/encoded", "jpeg"), bytesFeature("image/format", "JPEG")}) {
    EXPECT_NE(bytes.find(part), std::string::npos) << part;
  }
}

TEST(ImageExample, IsRefusedByWhatItLacks) {
  EXPECT_EQ(refusal("\x0a\x05"), "it is no tf.train.Example");
  EXPECT_NE(refusal(example("")).find("it has no feature"), std::string::npos);
  EXPECT_NE(refusal(example(bytesFeature("image/encoded", "x"))).find("it has image/encoded"), std::string::npos);
  EXPECT_EQ(refusal(example(numberFeature("image", 1) + numberFeature("label", 1))),
            "its feature 'image' holds no bytes");
  EXPECT_EQ(refusal(example(bytesFeature("image", "x") + bytesFeature("label", "1"))),
            "its feature 'label' holds no whole number");
  EXPECT_NE(refusal(example(bytesFeature("image", "x") + feature("label", field(3, "")))), "");
}

class TfRecords : public testing::Test {
 protected:
  ~TfRecords() override { std::remove(path.c_str()); }
  void write(const std::string& bytes) const { std::ofstream(path, std::ios::binary) << bytes; }
  std::string refusalOf(const std::string& bytes) const {
    write(bytes);
    try {
      const ReadableFile file(path);
      for (const RecordPlace& place : indexTfRecords(file)) readTfRecord(file, place);
    } catch (const DataError& error) {
      return std::string(error.what()).substr(path.size());
    }
    return "";
  }
  const std::string path = testing::TempDir() + "/records.tfrecord";
};

TEST_F(TfRecords, AreIndexedAndRead) {
  write(tfrecordOf("first") + tfrecordOf("") + tfrecordOf("third"));
  const ReadableFile file(path);
  const auto places = indexTfRecords(file);
  ASSERT_EQ(places.size(), 3U);
  EXPECT_EQ(readTfRecord(file, places[0]), (std::vector<uint8_t>{'f', 'i', 'r', 's', 't'}));
  EXPECT_TRUE(readTfRecord(file, places[1]).empty());
  EXPECT_EQ(places[2].bytes, 5U);
  write("");
  EXPECT_TRUE(indexTfRecords(ReadableFile(path)).empty());
}

TEST_F(TfRecords, AreRefusedByWhatIsDamaged) {
  const std::string one = tfrecordOf("first"), two = tfrecordOf("second");
  EXPECT_EQ(refusalOf(one + two.substr(0, 5)),
            ": record 1 (from 0) at byte 21: the file ends within its length; it is truncated");
  EXPECT_EQ(refusalOf(one + two.substr(0, 14)),
            ": record 1 (from 0) at byte 21: it is 6 bytes long, 2 are left; the file is truncated");
  std::string length = one;
  length[0] ^= 1;
  EXPECT_EQ(
      refusalOf(length),
      ": record 0 (from 0) at byte 0: the checksum of its length differs; the file is damaged or no TFRecord file");
  std::string data = one;
  data[14] ^= 1;
  EXPECT_EQ(refusalOf(data), ": byte 12: the checksum of this record differs; it is damaged");
  const std::string huge(8, '\x7f');
  std::string sum;
  for (int shift = 0; shift < 32; shift += 8) sum += static_cast<char>(maskedCrc32c(huge) >> shift & 0xff);
  EXPECT_NE(refusalOf(huge + sum).find("the limit is 1073741824"), std::string::npos);
}

TEST_F(TfRecords, ThatShrankAreNamed) {
  write(tfrecordOf("first"));
  const ReadableFile file(path);
  const auto places = indexTfRecords(file);
  ASSERT_EQ(truncate(path.c_str(), 14), 0);
  try {
    readTfRecord(file, places[0]);
    ADD_FAILURE() << "read";
  } catch (const DataError& error) {
    EXPECT_NE(std::string(error.what()).find("shrank while it was read"), std::string::npos) << error.what();
  }
}

}  // namespace
}  // namespace tandem
