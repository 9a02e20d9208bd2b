#include "formats/dataset/cifar.h"

#include <gtest/gtest.h>

#include <vector>

namespace tandem {
namespace {

using Bytes = std::vector<uint8_t>;

Bytes records(int count) {
  Bytes bytes;
  for (int i = 0; i < count; ++i) {
    bytes.push_back(static_cast<uint8_t>(i % 10));
    for (int plane = 0; plane < 3; ++plane)
      bytes.insert(bytes.end(), CifarLayout::planeBytes, static_cast<uint8_t>(40 * plane + i));
  }
  return bytes;
}

void expectRefused(const Bytes& bytes, uint64_t offset, const std::string& part) {
  const auto result = parseCifar(bytes);
  ASSERT_FALSE(result.ok()) << part;
  EXPECT_EQ(result.error().offset, offset) << result.error().text;
  EXPECT_NE(result.error().text.find(part), std::string::npos) << result.error().text;
}

TEST(Cifar, ReadsRecords) {
  const Bytes bytes = records(3);
  const auto result = parseCifar(bytes);
  ASSERT_TRUE(result.ok());
  const CifarBatch& batch = result.value();
  ASSERT_EQ(batch.count(), 3);
  EXPECT_EQ(batch.labels.at(2), 2);
  EXPECT_EQ(batch.planes(2)[0], 2);
  EXPECT_EQ(batch.planes(2)[CifarLayout::planeBytes], 42);
  EXPECT_EQ(batch.planes(2)[3 * CifarLayout::planeBytes - 1], 82);
}

TEST(Cifar, RefusesAWrongLength) {
  expectRefused({}, 0, "empty");
  Bytes bytes = records(2);
  bytes.pop_back();
  expectRefused(bytes, 0,
                "is 6145 bytes, which are no whole records of 3073 bytes (CIFAR-10) or 3074 bytes (CIFAR-100)");
}

TEST(Cifar, RefusesALabelAboveNine) {
  Bytes bytes = records(3);
  bytes[2 * 3073] = 10;
  expectRefused(bytes, 6146, "label 10 of image 2");
}

Bytes hundredRecords(int count) {
  Bytes bytes;
  for (int i = 0; i < count; ++i) {
    bytes.push_back(static_cast<uint8_t>(19 - i)), bytes.push_back(static_cast<uint8_t>(99 - i));
    bytes.insert(bytes.end(), 3072, static_cast<uint8_t>(200 + i));
  }
  return bytes;
}

TEST(Cifar, ReadsTheFineLabelsOfCifar100) {
  const Bytes bytes = hundredRecords(4);
  const auto result = parseCifar(bytes);
  ASSERT_TRUE(result.ok());
  const CifarBatch& batch = result.value();
  EXPECT_EQ(batch.layout->name, "CIFAR-100");
  ASSERT_EQ(batch.count(), 4);
  EXPECT_EQ(batch.labels.at(1), 98);
  EXPECT_EQ(batch.planes(3)[0], 203);
  EXPECT_EQ(batch.planes(3)[3071], 203);
}

TEST(Cifar, RefusesLabelsOfCifar100) {
  Bytes bytes = hundredRecords(3);
  bytes[3074 + 1] = 100;
  expectRefused(bytes, 3075, "label 100 of image 1; CIFAR-100 has labels 0 to 99");
  bytes[3074 + 1] = 99, bytes[2 * 3074] = 20;
  expectRefused(bytes, 2 * 3074, "label 20 of image 2; CIFAR-100 has coarse labels 0 to 19");
}

TEST(Cifar, ReadsRecordsThatAreWritten) {
  std::vector<uint8_t> pixels(CifarLayout::imageBytes);
  for (size_t i = 0; i < pixels.size(); ++i) pixels[i] = static_cast<uint8_t>(i * i % 251);
  for (const CifarLayout& layout : cifarLayouts()) {
    const std::vector<uint8_t> record = cifarRecord(layout, 9, pixels);
    const CifarBatch batch = parseCifar(record).value();
    EXPECT_EQ(batch.layout, &layout);
    EXPECT_EQ(batch.labels, std::vector<uint8_t>{9});
    const auto planes = batch.planes(0);
    for (size_t i = 0; i < pixels.size(); ++i) {
      ASSERT_EQ(planes[i % 3 * CifarLayout::planeBytes + i / 3], pixels[i]) << i;
    }
  }
}

}  // namespace
}  // namespace tandem
