#include "formats/dataset/array_message.h"

#include <gtest/gtest.h>

#include <cstring>

#include "support/array_batch.h"

namespace tandem {
namespace {

using Bytes = std::vector<uint8_t>;

void expectRefused(const Bytes& bytes, uint64_t offset, const std::string& part) {
  const auto arrays = parseArrayMessage(bytes);
  ASSERT_FALSE(arrays.ok()) << part;
  EXPECT_EQ(arrays.error().offset, offset) << arrays.error().text;
  EXPECT_NE(arrays.error().text.find(part), std::string::npos) << arrays.error().text;
}

// By hand, as tensorpack's dump_arrays_py packs [array([1, 2], int32), array(3, uint8)].
const Bytes byHand{2, 0, 0, 0, 3, 0, 0, 0, 1, 0, 0, 0, 2, 0, 0, 0, 8, 0, 0, 0, 0, 0, 0, 0, 1,
                   0, 0, 0, 2, 0, 0, 0, 4, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 3};

TEST(ArrayMessage, ReadsWhatTensorpackWrites) {
  const auto arrays = parseArrayMessage(byHand);
  ASSERT_TRUE(arrays.ok()) << arrays.error().text;
  ASSERT_EQ(arrays.value().size(), 2U);
  EXPECT_EQ(arrays.value()[0].type->name, "int32");
  EXPECT_EQ(arrays.value()[0].shape, std::vector<int64_t>{2});
  EXPECT_EQ(Bytes(arrays.value()[0].bytes.begin(), arrays.value()[0].bytes.end()), (Bytes{1, 0, 0, 0, 2, 0, 0, 0}));
  EXPECT_EQ(arrays.value()[1].type->name, "uint8");
  EXPECT_TRUE(arrays.value()[1].shape.empty());
  EXPECT_EQ(arrayMessage(arrays.value()), byHand);
}

TEST(ArrayMessage, RefusesEveryTruncation) {
  for (size_t bytes = 0; bytes < byHand.size(); ++bytes) {
    const auto arrays = parseArrayMessage(std::span(byHand).first(bytes));
    ASSERT_FALSE(arrays.ok()) << bytes;
    EXPECT_LE(arrays.error().offset, bytes);
  }
}

TEST(ArrayMessage, RefusesWhatIsNoMessage) {
  const Bytes good = messageOf({{"uint8", {2, 3}, 7}});
  const auto with = [&](size_t at, uint32_t value) {
    Bytes bytes = good;
    std::memcpy(bytes.data() + at, &value, sizeof value);
    return bytes;
  };
  expectRefused({}, 0, "ends inside the number");
  expectRefused(with(0, 0), 0, "0 arrays");
  expectRefused(with(0, 17), 0, "17 arrays");
  expectRefused(with(0, 0xFFFFFFFF), 0, "-1 arrays");
  expectRefused(with(4, 8), 4, "type 8");
  expectRefused(with(8, 9), 8, "9 dimensions");
  expectRefused(with(8, 0xFFFFFFFF), 8, "-1 dimensions");
  expectRefused(with(12, 0), 12, "a dimension of 0");
  expectRefused(with(16, 0x80000000), 16, "a dimension of -2147483648");
  expectRefused(with(20, 5), 20, "5 bytes; its type and shape need 6");
  expectRefused(with(24, 1), 20, "need 6");
  Bytes behind = good;
  behind.push_back(0);
  expectRefused(behind, good.size(), "1 bytes stand behind");
}

TEST(ArrayMessage, RefusesShapesBeyondCounting) {
  std::vector<int64_t> shape(8, 0x7FFFFFFF);
  Bytes bytes = arrayMessage(std::vector{MessageArray{arrayTypes().data(), shape, {}}});
  expectRefused(bytes, 16, "64 bits");
}

}  // namespace
}  // namespace tandem
