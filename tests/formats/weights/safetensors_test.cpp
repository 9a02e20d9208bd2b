#include "formats/weights/safetensors.h"

#include <gtest/gtest.h>

#include <cstdio>

#include "formats/io/file.h"

namespace tandem {
namespace {

using Bytes = std::vector<uint8_t>;

Bytes file(const std::string& header, size_t dataBytes) {
  Bytes bytes;
  for (int i = 0; i < 8; ++i) bytes.push_back(static_cast<uint8_t>(header.size() >> (8 * i)));
  bytes.insert(bytes.end(), header.begin(), header.end());
  for (size_t i = 0; i < dataBytes; ++i) bytes.push_back(static_cast<uint8_t>(i));
  return bytes;
}

void expectRefused(const Bytes& bytes, const std::string& part, const SafetensorsLimits& limits = {}) {
  const auto result = parseSafetensors(bytes, limits);
  ASSERT_FALSE(result.ok()) << part;
  EXPECT_NE(result.error().text.find(part), std::string::npos) << result.error().text;
  EXPECT_LT(result.error().text.size(), 1000U);
  EXPECT_LE(result.error().offset, bytes.size());
}

std::string entry(const std::string& name, const std::string& shape, uint64_t begin, uint64_t end,
                  const std::string& type = "F32") {
  return concat('"', name, R"(":{"dtype":")", type, R"(","shape":)", shape, R"(,"data_offsets":[)", begin, ',', end,
                "]}");
}

std::string object(const std::vector<std::string>& entries) { return "{" + join(entries, ",") + "}"; }

TEST(Safetensors, ReadsTensorsInTheOrderOfTheirBytes) {
  const Bytes bytes = file(object({R"("__metadata__":{"format":"pt","a":"b"})", entry("w", "[2,3]", 2, 26),
                                   entry("e", "[0,7]", 2, 2), entry("half", "[]", 0, 2, "F16")}) +
                               "   ",
                           26);
  const auto result = parseSafetensors(bytes);
  ASSERT_TRUE(result.ok()) << result.error().text;
  const auto& [tensors, metadata] = result.value();
  ASSERT_EQ(tensors.size(), 3U);
  EXPECT_EQ(tensors[0].name, "half");
  EXPECT_TRUE(tensors[0].shape.empty());
  EXPECT_EQ(tensors[1].name, "e");
  EXPECT_TRUE(tensors[1].bytes.empty());
  EXPECT_EQ(tensors[2].shape, (std::vector<int64_t>{2, 3}));
  EXPECT_EQ(tensors[2].type->name, "F32");
  EXPECT_EQ(tensors[2].bytes.size(), 24U);
  EXPECT_EQ(tensors[2].bytes[0], 2);
  EXPECT_EQ(metadata, (std::map<std::string, std::string>{{"a", "b"}, {"format", "pt"}}));
  EXPECT_TRUE(parseSafetensors(file("{}", 0)).ok());
}

TEST(Safetensors, RefusesABadSizeOfTheHeader) {
  for (size_t size = 0; size < 8; ++size) expectRefused(Bytes(size, 1), concat("is ", size, " bytes"));
  Bytes bytes(8, 0);
  expectRefused(bytes, "must start with {");
  bytes[7] = 0x80;
  expectRefused(bytes, "9223372036854775808 bytes; the limit is 100000000");
  bytes.assign(8, 0xFF);
  expectRefused(bytes, "18446744073709551615 bytes; the limit");
  bytes = {0x01, 0xE1, 0xF5, 0x05, 0, 0, 0, 0};
  expectRefused(bytes, "100000001 bytes; the limit is 100000000");
  bytes[0] = 0;
  expectRefused(bytes, "but only 0 follow");
}

TEST(Safetensors, RefusesEveryTruncationAndExtension) {
  Bytes bytes = file(object({entry("w", "[2]", 0, 8)}), 8);
  ASSERT_TRUE(parseSafetensors(bytes).ok());
  for (size_t size = 0; size < bytes.size(); ++size) {
    EXPECT_FALSE(parseSafetensors(std::span(bytes).first(size)).ok()) << size;
  }
  bytes.push_back(0);
  expectRefused(bytes, "1 bytes follow the last tensor");
}

TEST(Safetensors, RefusesWhatIsNotJson) {
  for (const std::string& header :
       {std::string("{"), std::string("{]"), std::string("{}}"), std::string("{} x"), std::string("{,}"),
        std::string("{\"a\":nul}"), std::string("{} // x"), std::string("{'a':1}"), std::string("{\"\xFF\":{}}"),
        std::string("{\"\\ud800\":{}}"), std::string("{\"a\":NaN}")}) {
    expectRefused(file(header, 0), "not JSON");
  }
  expectRefused(file(std::string("{}\0junk", 7), 0), "byte 0");
  expectRefused(file("\xEF\xBB\xBF{}", 0), "must start with {");
  expectRefused(file(" {}", 0), "must start with {");
  expectRefused(file("[]", 0), "must start with {");
}

TEST(Safetensors, RefusesDeepNesting) {
  std::string deep = "{\"a\":";
  for (int i = 0; i < 10000; ++i) deep += '[';
  expectRefused(file(deep, 0), "entry 'a' is a list; it must be an object");
  deep.clear();
  for (int i = 0; i < 10000; ++i) deep += "{\"a\":";
  expectRefused(file(deep, 0), "field 'a' of tensor 'a' is unknown");
}

TEST(Safetensors, RefusesOtherThanTheThreeFields) {
  expectRefused(file(R"({"a":1})", 0), "entry 'a' is a number");
  expectRefused(file(R"({"a":null})", 0), "entry 'a' is null");
  expectRefused(file(R"({"a":{}})", 0), "lacks one of");
  expectRefused(file(R"({"a":{"dtype":"F32","shape":[0]}})", 0), "lacks one of");
  expectRefused(file(R"({"a":{"dtype":"F32","shape":[0],"data_offsets":[0,0],"x":1}})", 0),
                "'x' of tensor 'a' is unknown");
  expectRefused(file(R"({"a":{"dtype":"F32","dtype":"F32"}})", 0), "dtype of tensor 'a' is there twice");
  expectRefused(file(R"({"a":{"dtype":["F32"]}})", 0), "dtype of tensor 'a' is a list");
  expectRefused(file(R"({"a":{"shape":3}})", 0), "shape of tensor 'a' is a number");
  expectRefused(file(R"({"a":{"shape":[[3]]}})", 0), "shape of tensor 'a' holds a list");
  expectRefused(file(R"({"a":{"data_offsets":[0]}})", 0), "fewer than two");
  expectRefused(file(R"({"a":{"data_offsets":[0,1,2]}})", 0), "more than two");
}

TEST(Safetensors, RefusesOtherNumbersThanSizes) {
  for (const std::string number : {"-1", "-0", "1.0", "1e3", "18446744073709551616", "true", "null", "\"1\"", "{}"}) {
    expectRefused(file(concat(R"({"a":{"dtype":"U8","shape":[)", number, R"(],"data_offsets":[0,1]}})"), 1),
                  "shape of tensor");
    expectRefused(file(concat(R"({"a":{"dtype":"U8","shape":[1],"data_offsets":[0,)", number, R"(]}})"), 1),
                  "data_offsets of tensor");
  }
  expectRefused(file(object({entry("a", "[9223372036854775808]", 0, 0)}), 0), "over 63 bits");
}

TEST(Safetensors, RefusesUnknownTypes) {
  for (const std::string type : {"F4", "F6_E2M3", "C64", "f32", "", "FLOAT"}) {
    expectRefused(file(object({entry("a", "[0]", 0, 0, type)}), 0), concat("is of type '", type, "'"));
  }
}

TEST(Safetensors, RefusesOverlapsHolesAndWrongSizes) {
  expectRefused(file(object({entry("a", "[2]", 0, 8), entry("b", "[2]", 4, 12)}), 12), "they overlap");
  expectRefused(file(object({entry("a", "[2]", 0, 8), entry("b", "[2]", 0, 8)}), 8), "they overlap");
  expectRefused(file(object({entry("a", "[2]", 0, 8), entry("b", "[1]", 12, 16)}), 16), "a hole");
  expectRefused(file(object({entry("a", "[1]", 4, 8)}), 8), "a hole");
  expectRefused(file(object({entry("a", "[2]", 0, 8)}), 12), "4 bytes follow the last tensor");
  expectRefused(file(object({entry("a", "[2]", 8, 0)}), 8), "ends at 0, before its begin 8");
  expectRefused(file(object({entry("a", "[3]", 0, 8)}), 8), "its shape and type need 12");
  expectRefused(file(object({entry("a", "[4]", 0, 16)}), 8), "only 8 bytes follow the header");
}

TEST(Safetensors, RefusesSizesWhoseProductOverflows) {
  expectRefused(file(object({entry("a", "[4194305,4194305,211106198978564]", 0, 0)}), 0), "more than 64 bits");
  expectRefused(file(object({entry("a", "[4611686018427387904]", 0, 0)}), 0), "more than 64 bits");
  expectRefused(file(object({entry("a", "[4611686018427387904,4,0]", 0, 0)}), 0), "more than 64 bits");
  std::string shape = "[1";
  for (int i = 0; i < 32; ++i) shape += ",1";
  expectRefused(file(object({entry("a", shape + "]", 0, 4)}), 4), "more than 32 dimensions");
}

TEST(Safetensors, RefusesBadNames) {
  const std::string nul = R"("a\u0000b":{"dtype":"U8","shape":[0],"data_offsets":[0,0]})";
  expectRefused(file(object({nul}), 0), "'a\\x00b' has a control character");
  for (const std::string name : {"a/b", "/", "../x", "..\\\\x", "a\\nb", "a\\u001bb"}) {
    expectRefused(file(object({entry(name, "[0]", 0, 0)}), 0), "has a control character or a slash");
  }
  expectRefused(file(object({entry("", "[0]", 0, 0)}), 0), "name is empty");
  expectRefused(file(object({entry(std::string(1 << 20, 'n'), "[0]", 0, 0)}), 0),
                "has 1048576 bytes; the limit is 256");
  EXPECT_TRUE(parseSafetensors(file(object({entry(std::string(256, 'n'), "[0]", 0, 0)}), 0)).ok());
}

TEST(Safetensors, RefusesRepeatedNames) {
  expectRefused(file(object({entry("a", "[1]", 0, 4), entry("b", "[1]", 4, 8), entry("a", "[1]", 8, 12)}), 12),
                "tensor 'a' is there twice");
  expectRefused(file(object({entry("a", "[0]", 0, 0), entry("\\u0061", "[0]", 0, 0)}), 0), "tensor 'a' is there twice");
}

TEST(Safetensors, RefusesBadMetadata) {
  expectRefused(file(R"({"__metadata__":{"a":1}})", 0), "entry 'a' of __metadata__ is a number; it must be a text");
  expectRefused(file(R"({"__metadata__":{"a":["b"]}})", 0), "it must be a text");
  expectRefused(file(R"({"__metadata__":{"a":{}}})", 0), "it must be a text");
  expectRefused(file(R"({"__metadata__":"a"})", 0), "must be an object");
  expectRefused(file(R"({"__metadata__":null})", 0), "must be an object");
  expectRefused(file(R"({"__metadata__":{},"__metadata__":{}})", 0), "there twice");
  expectRefused(file(R"({"__metadata__":{"a":"b","a":"b"}})", 0), "there twice");
  expectRefused(file(R"({"__metadata__":{"abc":"def"}})", 0), "holds more than 133 bytes", {.metadataBytes = 133});
  EXPECT_TRUE(parseSafetensors(file(R"({"__metadata__":{"abc":"def"}})", 0), {.metadataBytes = 134}).ok());
}

TEST(Safetensors, RefusesAMillionTensors) {
  std::vector<std::string> entries;
  for (int i = 0; i < 1'000'000; ++i) entries.push_back(entry(std::to_string(i), "[0]", 0, 0, "U8"));
  expectRefused(file(object(entries), 0), "more than 65536 tensors");
}

TEST(Safetensors, RefusesHugeTokens) {
  expectRefused(file("{" + std::string(20 << 20, ' ') + "}", 0), "bytes without a quote");
  expectRefused(file("{\"" + std::string(20 << 20, 'x') + "\":1}", 0), "bytes without a quote");
}

std::vector<FileTensor> exampleTensors(const Bytes& data) {
  const std::span<const uint8_t> all(data);
  return {{.name = "b", .type = elementTypeNamed("F32"), .shape = {2, 1}, .strides = {}, .bytes = all.first(8)},
          {.name = "\"\u00e4\\", .type = elementTypeNamed("U8"), .shape = {3}, .strides = {}, .bytes = all.first(3)},
          {.name = "a", .type = elementTypeNamed("F32"), .shape = {2, 3}, .strides = {1, 2}, .bytes = all}};
}

TEST(Safetensors, WritesWhatItReads) {
  Bytes data(24);
  for (size_t i = 0; i < data.size(); ++i) data[i] = static_cast<uint8_t>(i);
  auto tensors = exampleTensors(data);
  tensors[1].name = "\u00e4\"x";
  const std::string path = ::testing::TempDir() + "/tandem_written.safetensors";
  writeSafetensors(path, tensors, {{"format", "pt"}, {"note", "\"\n\u00e4"}});
  const Bytes bytes = readFile(path, 1 << 20);
  std::remove(path.c_str());
  const auto result = parseSafetensors(bytes);
  ASSERT_TRUE(result.ok()) << result.error().text;
  const auto& read = result.value();
  ASSERT_EQ(read.tensors.size(), 3U);
  EXPECT_EQ(read.tensors[0].name, "a");
  EXPECT_EQ(read.tensors[1].name, "b");
  EXPECT_EQ(read.tensors[2].name, "\u00e4\"x");
  EXPECT_EQ(read.metadata.at("note"), "\"\n\u00e4");
  EXPECT_EQ((read.tensors[0].bytes.data() - bytes.data()) % 8, 0);
  const Bytes gathered(read.tensors[0].bytes.begin(), read.tensors[0].bytes.end());
  EXPECT_EQ(gathered, (Bytes{0, 1, 2, 3, 8, 9, 10, 11, 16, 17, 18, 19, 4, 5, 6, 7, 12, 13, 14, 15, 20, 21, 22, 23}));
  EXPECT_EQ(read.tensors[1].shape, (std::vector<int64_t>{2, 1}));
}

}  // namespace
}  // namespace tandem
