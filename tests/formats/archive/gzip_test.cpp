#include "formats/archive/gzip.h"

#include <gtest/gtest.h>
#include <zlib.h>

#include <vector>

namespace tandem {
namespace {

using Bytes = std::vector<uint8_t>;

Bytes compress(const Bytes& plain) {
  z_stream stream{};
  EXPECT_EQ(deflateInit2(&stream, 6, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY), Z_OK);
  Bytes packed(deflateBound(&stream, plain.size()) + 64);
  stream.next_in = const_cast<Bytef*>(plain.data());
  stream.avail_in = static_cast<uInt>(plain.size());
  stream.next_out = packed.data();
  stream.avail_out = static_cast<uInt>(packed.size());
  EXPECT_EQ(deflate(&stream, Z_FINISH), Z_STREAM_END);
  packed.resize(stream.total_out);
  deflateEnd(&stream);
  return packed;
}

Bytes noise(size_t size) {
  Bytes bytes(size);
  uint32_t state = 12345;
  for (uint8_t& byte : bytes) byte = static_cast<uint8_t>((state = state * 1664525 + 1013904223) >> 24);
  return bytes;
}

void expectRefused(const Bytes& packed, const std::string& part, const GzipLimits& limits = {}) {
  const auto result = gunzip(packed, limits);
  ASSERT_FALSE(result.ok()) << part;
  EXPECT_NE(result.error().text.find(part), std::string::npos) << result.error().text;
}

TEST(Gzip, Inflates) {
  for (const size_t size : {0UL, 1UL, 262143UL, 262144UL, 262145UL, 3000000UL}) {
    const Bytes plain = noise(size);
    const auto result = gunzip(compress(plain));
    ASSERT_TRUE(result.ok()) << result.error().text;
    EXPECT_EQ(result.value(), plain) << size;
  }
}

TEST(Gzip, InflatesAllMembers) {
  Bytes packed = compress({1, 2, 3});
  const Bytes second = compress({4, 5});
  packed.insert(packed.end(), second.begin(), second.end());
  const auto result = gunzip(packed);
  ASSERT_TRUE(result.ok()) << result.error().text;
  EXPECT_EQ(result.value(), (Bytes{1, 2, 3, 4, 5}));
}

TEST(Gzip, RefusesEveryTruncation) {
  const Bytes packed = compress(noise(300));
  for (size_t size = 2; size < packed.size(); ++size) {
    expectRefused(Bytes(packed.begin(), packed.begin() + size), "truncated");
  }
  expectRefused({}, "must start with 1f 8b");
}

TEST(Gzip, ChecksTheChecksumAndLength) {
  Bytes packed = compress(noise(300));
  packed[packed.size() - 8] ^= 1;
  expectRefused(packed, "incorrect data check");
  packed = compress(noise(300));
  packed[packed.size() - 4] ^= 1;
  expectRefused(packed, "incorrect length check");
}

TEST(Gzip, RefusesTrailingBytes) {
  Bytes packed = compress({1, 2, 3});
  packed.push_back(0);
  expectRefused(packed, "1 bytes follow the end");
}

TEST(Gzip, RefusesABomb) {
  const Bytes bomb = compress(Bytes(8 << 20, 0));
  EXPECT_LT(bomb.size(), 20000U);
  expectRefused(bomb, "decompression bomb");
  EXPECT_TRUE(gunzip(bomb, {.ratio = 2000}).ok());
}

TEST(Gzip, RefusesOutputOverTheLimit) {
  const Bytes packed = compress(noise(1000));
  expectRefused(packed, "more than the limit of 999 bytes", {.outputBytes = 999});
  EXPECT_TRUE(gunzip(packed, {.outputBytes = 1000}).ok());
}

TEST(Gzip, ShowsTheHead) {
  const Bytes plain = noise(100000);
  const Bytes packed = compress(plain);
  EXPECT_EQ(gunzipHead(packed, 16), Bytes(plain.begin(), plain.begin() + 16));
  EXPECT_EQ(gunzipHead(Bytes(packed.begin(), packed.begin() + 4096), 16), Bytes(plain.begin(), plain.begin() + 16));
  EXPECT_TRUE(gunzipHead(Bytes{0x1F, 0x8B}, 16).empty());
  EXPECT_TRUE(gunzipHead(plain, 16).empty());
}

}  // namespace
}  // namespace tandem
