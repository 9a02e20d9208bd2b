#include "formats/dataset/idx.h"

#include <gtest/gtest.h>

#include <vector>

namespace tandem {
namespace {

using Bytes = std::vector<uint8_t>;

Bytes header(uint8_t type, const std::vector<uint32_t>& sizes) {
  Bytes bytes{0, 0, type, static_cast<uint8_t>(sizes.size())};
  for (const uint32_t size : sizes) {
    for (int shift = 24; shift >= 0; shift -= 8) bytes.push_back(static_cast<uint8_t>(size >> shift));
  }
  return bytes;
}

Bytes withValues(Bytes bytes, size_t count) {
  for (size_t i = 0; i < count; ++i) bytes.push_back(static_cast<uint8_t>(i));
  return bytes;
}

void expectRefused(const Bytes& bytes, uint64_t offset, const std::string& part) {
  const auto result = parseIdx(bytes);
  ASSERT_FALSE(result.ok()) << part;
  EXPECT_EQ(result.error().offset, offset) << result.error().text;
  EXPECT_NE(result.error().text.find(part), std::string::npos) << result.error().text;
}

TEST(Idx, ReadsImages) {
  const Bytes bytes = withValues(header(8, {2, 3, 4}), 24);
  const auto result = parseIdx(bytes);
  ASSERT_TRUE(result.ok());
  EXPECT_EQ(result.value().dimensions, 3);
  EXPECT_EQ(result.value().sizes, (std::array<int64_t, 3>{2, 3, 4}));
  EXPECT_EQ(result.value().values.size(), 24U);
  EXPECT_EQ(result.value().values.front(), 0);
  EXPECT_EQ(result.value().values.back(), 23);
}

TEST(Idx, ReadsLabels) {
  const Bytes bytes = withValues(header(8, {5}), 5);
  const auto result = parseIdx(bytes);
  ASSERT_TRUE(result.ok());
  EXPECT_EQ(result.value().dimensions, 1);
  EXPECT_EQ(result.value().sizes[0], 5);
}

TEST(Idx, RefusesAWrongStart) {
  expectRefused({}, 0, "inside the IDX header");
  expectRefused({0, 0, 8}, 3, "inside the IDX header");
  expectRefused({1, 0, 8, 1, 0, 0, 0, 1, 7}, 0, "two zero bytes");
  expectRefused({0, 0, 7, 1, 0, 0, 0, 1, 7}, 2, "type code 7");
  expectRefused(withValues(header(0x0D, {1}), 4), 2, "of type float; only unsigned byte");
  expectRefused(withValues(header(8, {2, 2}), 4), 3, "2 dimensions");
  expectRefused({0, 0, 8, 3, 0, 0, 0, 1}, 8, "inside the IDX header of 16 bytes");
}

TEST(Idx, RefusesSizesBeforeUse) {
  expectRefused(header(8, {0}), 4, "number of labels is 0");
  expectRefused(header(8, {1, 0, 4}), 8, "edge of an image is 0");
  expectRefused(header(8, {0xFFFFFFFF, 0xFFFFFFFF, 0xFFFFFFFF}), 4, "number of images is 4294967295; the limit");
  expectRefused(header(8, {1, 28, 0x10000}), 12, "edge of an image is 65536; the limit");
}

TEST(Idx, RefusesEveryOtherLength) {
  const Bytes whole = withValues(header(8, {2, 3, 4}), 24);
  for (size_t size = 0; size < whole.size(); ++size) {
    EXPECT_FALSE(parseIdx(Bytes(whole.begin(), whole.begin() + size)).ok()) << size;
  }
  expectRefused(Bytes(whole.begin(), whole.end() - 1), 39, "describes 40 bytes but there are 39; truncated");
  expectRefused(withValues(whole, 1), 40, "describes 40 bytes but there are 41; too long");
}

TEST(Idx, LimitsAreTheCallers) {
  const Bytes bytes = withValues(header(8, {5}), 5);
  EXPECT_FALSE(parseIdx(bytes, {.count = 4}).ok());
  EXPECT_TRUE(parseIdx(bytes, {.count = 5}).ok());
}

TEST(Idx, RecognisesAHead) {
  EXPECT_EQ(idxDimensions(header(8, {1, 2, 3})), 3);
  EXPECT_EQ(idxDimensions(header(8, {1})), 1);
  EXPECT_EQ(idxDimensions(Bytes{0, 0, 8}), 0);
  EXPECT_EQ(idxDimensions(Bytes{0, 0, 7, 1}), 0);
  EXPECT_EQ(idxDimensions(Bytes{0, 1, 8, 1}), 0);
}

TEST(Idx, ReadsHeadersThatAreWritten) {
  const Idx images{.dimensions = 3, .sizes = {70'000, 28, 300}, .values = {}};
  EXPECT_EQ(parseIdxHeader(idxHeader(images)).value().sizes, images.sizes);
  EXPECT_EQ(idxHeader({.dimensions = 1, .sizes = {258}, .values = {}}), (std::vector<uint8_t>{0, 0, 8, 1, 0, 0, 1, 2}));
}

}  // namespace
}  // namespace tandem
