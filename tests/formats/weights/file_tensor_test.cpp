#include "formats/weights/file_tensor.h"

#include <gtest/gtest.h>

namespace tandem {
namespace {

using Bytes = std::vector<uint8_t>;
using Sizes = std::vector<int64_t>;

TEST(FileTensor, GathersStridedElements) {
  const Bytes data{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11};
  const auto gathered = [&](const Sizes& shape, const Sizes& strides, const char* type) {
    const FileTensor tensor{
        .name = "x", .type = elementTypeNamed(type), .shape = shape, .strides = strides, .bytes = data};
    Bytes scratch;
    const auto bytes = rowMajorBytes(tensor, scratch);
    return Bytes(bytes.begin(), bytes.end());
  };
  EXPECT_EQ(gathered({3, 2}, {1, 3}, "U8"), (Bytes{0, 3, 1, 4, 2, 5}));
  EXPECT_EQ(gathered({2, 2}, {6, 1}, "U8"), (Bytes{0, 1, 6, 7}));
  EXPECT_EQ(gathered({2, 2}, {1, 2}, "I16"), (Bytes{0, 1, 4, 5, 2, 3, 6, 7}));
  EXPECT_EQ(gathered({2, 3}, {0, 2}, "U8"), (Bytes{0, 2, 4, 0, 2, 4}));
  EXPECT_EQ(gathered({12}, {}, "U8"), data);
}

TEST(FileTensor, KnowsRowMajorStrides) {
  EXPECT_TRUE(stridesUnlessRowMajor(Sizes{2, 3}, Sizes{3, 1}).empty());
  EXPECT_TRUE(stridesUnlessRowMajor(Sizes{2, 1, 3}, Sizes{3, 99, 1}).empty());
  EXPECT_TRUE(stridesUnlessRowMajor(Sizes{INT64_MAX, 0, INT64_MAX}, Sizes{1, 2, 3}).empty());
  EXPECT_TRUE(stridesUnlessRowMajor(Sizes{}, Sizes{}).empty());
  EXPECT_EQ(stridesUnlessRowMajor(Sizes{2, 3}, Sizes{1, 2}), (Sizes{1, 2}));
  EXPECT_EQ(stridesUnlessRowMajor(Sizes{2, 3}, Sizes{4, 1}), (Sizes{4, 1}));
}

TEST(FileTensor, CountsBytesWithoutOverflow) {
  EXPECT_EQ(byteCount(Sizes{2, 3}, 4), 24U);
  EXPECT_EQ(byteCount(Sizes{}, 8), 8U);
  EXPECT_EQ(byteCount(Sizes{INT64_MAX}, 2), UINT64_MAX - 1);
  EXPECT_EQ(byteCount(Sizes{INT64_MAX}, 4), std::nullopt);
  EXPECT_EQ(byteCount(Sizes{4194305, 4194305, 211106198978564}, 1), std::nullopt);
}

TEST(FileTensor, ChecksNames) {
  EXPECT_FALSE(nameFault("features.0.weight"));
  EXPECT_FALSE(nameFault("gewöhnlich"));
  for (const std::string name : {"", "a/b", "a\\b", "a\nb", "\x7F", "\xFF"}) EXPECT_TRUE(nameFault(name)) << name;
  EXPECT_TRUE(nameFault(std::string(257, 'x')));
}

TEST(FileTensor, TakesSlashesInsideNamesWhereAsked) {
  for (const std::string name : {"conv1_conv/kernel", "a/b/c", "a/..b/c"}) {
    EXPECT_TRUE(nameFault(name)) << name;
    EXPECT_FALSE(nameFault(name, Slashes::inside)) << name;
  }
  for (const std::string name : {"/a", "a/", "a//b", "..", "../a", "a/../b", "a/..", "./a", "a/./b", "a\\b", "a/\n"}) {
    EXPECT_TRUE(nameFault(name, Slashes::inside)) << name;
  }
}

TEST(ElementType, NamesEachTypeOnce) {
  for (const auto& type : elementTypes()) {
    EXPECT_EQ(elementTypeNamed(type.name), &type);
    EXPECT_EQ(elementTypeOfStorage(type.storage), type.storage.empty() ? nullptr : &type);
  }
  EXPECT_EQ(elementTypeNamed(""), nullptr);
  EXPECT_EQ(elementTypeOfStorage(""), nullptr);
}

TEST(ElementType, CountsWhatIsNotFinite) {
  const auto count = [](const char* type, const Bytes& bytes) {
    return countNonFinite(*elementTypeNamed(type), bytes);
  };
  EXPECT_EQ(count("F32", {0, 0, 0x80, 0x7F, 0, 0, 0x80, 0xFF, 1, 0, 0xC0, 0x7F, 0xFF, 0xFF, 0x7F, 0x7F}), 3U);
  EXPECT_EQ(count("F16", {0, 0x7C, 0xFF, 0x7B, 1, 0xFE}), 2U);
  EXPECT_EQ(count("BF16", {0x80, 0x7F, 0x7F, 0x7F}), 1U);
  EXPECT_EQ(count("F64", {0, 0, 0, 0, 0, 0, 0xF0, 0x7F, 0, 0, 0, 0, 0, 0, 0xE0, 0x7F}), 1U);
  EXPECT_EQ(count("F8_E4M3", {0x7F, 0xFF, 0x7E, 0}), 2U);
  EXPECT_EQ(count("F8_E5M2", {0x7C, 0x7F, 0xFD, 0x7B}), 3U);
  EXPECT_EQ(count("I32", {0xFF, 0xFF, 0xFF, 0xFF}), 0U);
}

}  // namespace
}  // namespace tandem
