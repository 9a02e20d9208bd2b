#include "formats/io/checksum.h"

#include <gtest/gtest.h>

#include <vector>

namespace tandem {
namespace {

TEST(Crc32c, IsThatOfTheStandard) {
  // RFC 3720, appendix B.4.
  EXPECT_EQ(crc32cOf(std::string(32, '\0')), 0x8a9136aaU);
  EXPECT_EQ(crc32cOf(std::string(32, '\xff')), 0x62a8ab43U);
  EXPECT_EQ(crc32cOf("123456789"), 0xe3069283U);
  EXPECT_EQ(crc32cOf(""), 0U);
}

TEST(Crc32c, IsTheSameByTheInstructionAndByTables) {
  std::vector<uint8_t> bytes(300);
  for (size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<uint8_t>(i * i + 3 * i);
  for (size_t begin = 0; begin < 9; ++begin) {
    for (size_t length = 0; begin + length < bytes.size(); ++length) {
      const auto part = std::span<const uint8_t>(bytes).subspan(begin, length);
      ASSERT_EQ(crc32cOf(part), crc32cByTables(part)) << begin << ' ' << length;
    }
  }
}

TEST(Sha256, TakesBytesInParts) {
  const std::vector<uint8_t> bytes(1000, 7);
  Sha256 sum;
  sum.add(std::span(bytes).first(1)), sum.add({}), sum.add(std::span(bytes).subspan(1));
  EXPECT_EQ(sum.text(), sha256Of(bytes));
}

// FIPS 180-4's examples.
TEST(Sha256, IsTheStandards) {
  const std::string text = "abc";
  EXPECT_EQ(sha256Of({}), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  EXPECT_EQ(sha256Of(std::vector<uint8_t>(text.begin(), text.end())),
            "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
}

}  // namespace
}  // namespace tandem
