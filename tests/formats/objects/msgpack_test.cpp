#include "formats/objects/msgpack.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace tandem {
namespace {

using Kind = MsgpackValue::Kind;
using namespace std::string_literals;

std::span<const uint8_t> spanOf(const std::string& text) {
  return {reinterpret_cast<const uint8_t*>(text.data()), text.size()};
}

MsgpackValue valueOf(const std::string& bytes) {
  MsgpackReader reader(spanOf(bytes));
  const auto value = reader.next();
  EXPECT_TRUE(value.ok()) << value.error().text;
  return value.ok() ? value.value() : MsgpackValue();
}

TEST(Msgpack, ReadsWholeNumbers) {
  const std::vector<std::pair<std::string, int64_t>> cases{{"\x7F", 127},
                                                           {"\xE0", -32},
                                                           {"\xFF", -1},
                                                           {"\xCC\xFF", 255},
                                                           {"\xCD\x01\x02", 258},
                                                           {"\xCE\xFF\xFF\xFF\xFF", 4294967295},
                                                           {"\xCF\x00\x00\x00\x01\x00\x00\x00\x00"s, 4294967296},
                                                           {"\xD0\x80", -128},
                                                           {"\xD1\xFF\xFE", -2},
                                                           {"\xD2\x80\x00\x00\x00"s, -2147483648},
                                                           {"\xD3\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFD", -3}};
  for (const auto& [bytes, expected] : cases) {
    const MsgpackValue value = valueOf(bytes);
    EXPECT_EQ(value.kind, Kind::integer);
    EXPECT_EQ(value.integer, expected);
  }
}

TEST(Msgpack, ReadsTheOtherKinds) {
  EXPECT_EQ(valueOf("\xC0").kind, Kind::none);
  EXPECT_EQ(valueOf("\xC2").integer, 0);
  EXPECT_EQ(valueOf("\xC3").integer, 1);
  EXPECT_EQ(valueOf("\xCA"
                    "abcd")
                .kind,
            Kind::real);
  EXPECT_EQ(valueOf("\xCB"
                    "abcdefgh")
                .kind,
            Kind::real);
  for (const std::string& bytes : {"\xA2xy"s, "\xD9\x02xy"s, "\xDA\x00\x02xy"s, "\xDB\x00\x00\x00\x02xy"s}) {
    EXPECT_EQ(valueOf(bytes).kind, Kind::text);
    EXPECT_EQ(valueOf(bytes).bytes.size(), 2U);
  }
  for (const std::string& bytes : {"\xC4\x02xy"s, "\xC5\x00\x02xy"s, "\xC6\x00\x00\x00\x02xy"s}) {
    EXPECT_EQ(valueOf(bytes).kind, Kind::bytes);
    EXPECT_EQ(valueOf(bytes).bytes.size(), 2U);
  }
  for (const std::string& bytes : {"\x92xy"s, "\xDC\x00\x02xy"s, "\xDD\x00\x00\x00\x02xy"s}) {
    EXPECT_EQ(valueOf(bytes).kind, Kind::array);
    EXPECT_EQ(valueOf(bytes).items, 2U);
  }
  for (const std::string& bytes : {"\x81xy"s, "\xDE\x00\x01xy"s, "\xDF\x00\x00\x00\x01xy"s}) {
    EXPECT_EQ(valueOf(bytes).kind, Kind::map);
    EXPECT_EQ(valueOf(bytes).items, 2U);
  }
  for (const std::string& bytes : {"\xD4\x01x"s, "\xC7\x01\x01x"s, "\xC8\x00\x01\x01x"s}) {
    EXPECT_EQ(valueOf(bytes).kind, Kind::extension);
    EXPECT_EQ(valueOf(bytes).bytes.size(), 2U) << "its type and a byte";
  }
}

TEST(Msgpack, EveryFirstByteIsOneKindOrNone) {
  int refused = 0;
  for (int first = 0; first < 256; ++first) {
    const std::string bytes = std::string(1, static_cast<char>(first)) + std::string(64, '\0');
    MsgpackReader reader(spanOf(bytes));
    if (!reader.next().ok()) ++refused;
  }
  EXPECT_EQ(refused, 1) << "0xC1 alone begins nothing";
}

TEST(Msgpack, PassesOverNestedValues) {
  const std::string bytes = "\x92\x81\xA1x\x93\x01\x02\xC4\x01y\xC0\x05";
  MsgpackReader reader(spanOf(bytes));
  EXPECT_FALSE(reader.skip());
  EXPECT_EQ(reader.next().value().integer, 5);
  const std::string deep(1 << 20, '\x91');
  MsgpackReader below(spanOf(deep));
  const auto fault = below.skip();
  ASSERT_TRUE(fault);
  EXPECT_EQ(fault->offset, deep.size() - 1);
}

TEST(Msgpack, RefusesWhatEndsTooEarly) {
  const auto expectRefused = [](const std::string& bytes, const std::string& part) {
    MsgpackReader reader(spanOf(bytes));
    const auto value = reader.next();
    ASSERT_FALSE(value.ok()) << part;
    EXPECT_NE(value.error().text.find(part), std::string::npos) << value.error().text;
    EXPECT_EQ(value.error().offset, 0U);
  };
  expectRefused("", "ends where a value is due");
  expectRefused("\xC1", "byte 193 begins no value");
  expectRefused("\xCD\x01", "an integer is cut short");
  expectRefused("\xC6\xFF\xFF\xFF\xFFx", "bytes of 4294967295 bytes, 1 are left");
  expectRefused("\xDD\xFF\xFF\xFF\xFFx", "an array of 4294967295 values in 1 bytes");
  expectRefused("\xDF\xFF\xFF\xFF\xFFx", "a map of 8589934590 values in 1 bytes");
  expectRefused("\xC9\xFF\xFF\xFF\xFFx", "an extension of 4294967296 bytes");
  expectRefused("\xCF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF", "an integer beyond 63 bits");
}

}  // namespace
}  // namespace tandem
