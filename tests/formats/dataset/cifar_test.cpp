#include "formats/dataset/cifar10.h"

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
      bytes.insert(bytes.end(), Cifar10::planeBytes, static_cast<uint8_t>(40 * plane + i));
  }
  return bytes;
}

void expectRefused(const Bytes& bytes, uint64_t offset, const std::string& part) {
  const auto result = parseCifar10(bytes);
  ASSERT_FALSE(result.ok()) << part;
  EXPECT_EQ(result.error().offset, offset) << result.error().text;
  EXPECT_NE(result.error().text.find(part), std::string::npos) << result.error().text;
}

TEST(Cifar10, ReadsRecords) {
  const Bytes bytes = records(3);
  const auto result = parseCifar10(bytes);
  ASSERT_TRUE(result.ok());
  const Cifar10& batch = result.value();
  ASSERT_EQ(batch.count(), 3);
  EXPECT_EQ(batch.label(2), 2);
  EXPECT_EQ(batch.planes(2)[0], 2);
  EXPECT_EQ(batch.planes(2)[Cifar10::planeBytes], 42);
  EXPECT_EQ(batch.planes(2)[3 * Cifar10::planeBytes - 1], 82);
}

TEST(Cifar10, RefusesAWrongLength) {
  expectRefused({}, 0, "empty");
  Bytes bytes = records(2);
  bytes.pop_back();
  expectRefused(bytes, 3073, "is 6145 bytes, 3072 more than 1 CIFAR-10 records of 3073 bytes; truncated");
}

TEST(Cifar10, RefusesALabelAboveNine) {
  Bytes bytes = records(3);
  bytes[2 * Cifar10::recordBytes] = 10;
  expectRefused(bytes, 6146, "label 10 of record 2");
}

TEST(Cifar10, NamesThePythonPickle) {
  Bytes bytes = records(1);
  bytes[0] = 0x80;
  bytes[1] = 2;
  expectRefused(bytes, 0, "cifar-10-binary.tar.gz");
  expectRefused({0x80, 4, 0x95}, 0, "Python pickle");
}

TEST(Cifar10, NamesCifar100) {
  Bytes bytes;
  for (int i = 0; i < 4; ++i) {
    bytes.push_back(19);
    bytes.push_back(99);
    bytes.insert(bytes.end(), 3072, 200);
  }
  expectRefused(bytes, 0, "CIFAR-100");
  bytes[1] = 100;
  expectRefused(bytes, 4 * 3073, "truncated or another format");
}

}  // namespace
}  // namespace tandem
