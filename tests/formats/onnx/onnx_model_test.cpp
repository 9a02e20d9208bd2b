#include "formats/onnx/onnx_model.h"

#include <gtest/gtest.h>

#include "base/text.h"
#include "support/onnx_writer.h"

namespace tandem {
namespace {

using namespace onnx_writer;

std::span<const uint8_t> bytesOf(const std::string& text) {
  return {reinterpret_cast<const uint8_t*>(text.data()), text.size()};
}

std::string refusalOf(const std::string& bytes, const OnnxLimits& limits = {}) {
  const auto parsed = parseOnnx(bytesOf(bytes), limits);
  return parsed ? "" : parsed.error().text;
}

std::string with(const std::string& tensor) { return model({.nodes = {}, .tensors = {tensor}}); }

std::string small() {
  return model({.nodes = {node("Conv", {"x", "conv.weight"}, "y",
                               attribute("group", int64_t{2}) + attribute("pads", std::vector<int64_t>{0, 1, 2, 3}) +
                                   attribute("auto_pad", "NOTSET") + attribute("epsilon", 0.5F))},
                .tensors = {floats("conv.weight", {2, 3, 1, 1}), wholes("shape", {-1, 7})},
                .input = {0, 3, 8, 8}});
}

TEST(OnnxModel, IsRead) {
  const std::string bytes = small();
  const auto parsed = parseOnnx(bytesOf(bytes));
  ASSERT_TRUE(parsed.ok()) << parsed.error().text;
  const OnnxModel& read = parsed.value();
  EXPECT_EQ(read.opset, 18);
  EXPECT_EQ(read.irVersion, 8);
  EXPECT_EQ(read.producer, "test");
  ASSERT_EQ(read.nodes.size(), 1U);
  const OnnxNode& conv = read.nodes.front();
  EXPECT_EQ(conv.operation, "Conv");
  EXPECT_EQ(conv.inputs, (std::vector<std::string>{"x", "conv.weight"}));
  EXPECT_EQ(conv.outputs, (std::vector<std::string>{"y"}));
  ASSERT_EQ(conv.attributes.size(), 4U);
  EXPECT_EQ(conv.attributes[0].whole, 2);
  EXPECT_EQ(conv.attributes[1].wholes, (std::vector<int64_t>{0, 1, 2, 3}));
  EXPECT_EQ(conv.attributes[2].text, "NOTSET");
  EXPECT_EQ(conv.attributes[3].number, 0.5F);
  ASSERT_EQ(read.initializers.size(), 2U);
  EXPECT_EQ(read.initializers[0].shape, (std::vector<int64_t>{2, 3, 1, 1}));
  EXPECT_GE(read.initializers[0].bytes.data(), bytesOf(bytes).data()) << "raw_data is not copied";
  EXPECT_LT(read.initializers[0].bytes.data(), bytesOf(bytes).data() + bytes.size());
  EXPECT_EQ(read.inputs.at(0).shape, (std::vector<int64_t>{-1, 3, 8, 8}));
  EXPECT_EQ(read.inputs.at(0).type->name, "F32");
}

template <class Number>
std::vector<Number> valuesOf(const FileTensor& tensor) {
  std::vector<Number> values(tensor.elements());
  EXPECT_EQ(tensor.bytes.size(), values.size() * sizeof(Number));
  std::memcpy(values.data(), tensor.bytes.data(), std::min(tensor.bytes.size(), values.size() * sizeof(Number)));
  return values;
}

TEST(OnnxModel, TensorsMayHaveValuesInTypedFields) {
  const auto first = [](const std::string& tensor, const auto& check) {
    const std::string bytes = with(tensor);
    const auto parsed = parseOnnx(bytesOf(bytes));
    ASSERT_TRUE(parsed.ok()) << parsed.error().text;
    check(parsed.value().initializers.at(0));
  };
  first(wholes("a", {-1, 300}), [](const FileTensor& t) {
    EXPECT_EQ(valuesOf<int64_t>(t), (std::vector<int64_t>{-1, 300}));
  });
  first(tensor("a", {2}, 1, field(4, rawOf({1.5F, -2}))), [](const FileTensor& t) {
    EXPECT_EQ(valuesOf<float>(t), (std::vector<float>{1.5F, -2}));
  });
  const std::string apart = varint(4 * 8 + 5) + rawOf({1.5F}) + varint(4 * 8 + 5) + rawOf({-2});
  first(tensor("a", {2}, 1, apart), [](const FileTensor& t) {
    EXPECT_EQ(valuesOf<float>(t), (std::vector<float>{1.5F, -2}));
  });
  first(tensor("a", {2}, 10, field(5, varint(0x3C00) + varint(0xC000))), [](const FileTensor& t) {
    EXPECT_EQ(t.type->name, "F16");
    EXPECT_EQ(valuesOf<uint16_t>(t), (std::vector<uint16_t>{0x3C00, 0xC000}));
  });
  first(tensor("a", {1}, 16, field(9, std::string("\x80\x3F"))),
        [](const FileTensor& t) { EXPECT_EQ(t.type->name, "BF16"); });
  first(tensor("a", {1}, 11, field(9, std::string(8, '\0'))),
        [](const FileTensor& t) { EXPECT_EQ(t.type->name, "F64"); });
}

TEST(OnnxModel, RefusesTensorsThatDoNotFit) {
  EXPECT_NE(refusalOf(with(tensor("w", {3}, 1, field(9, rawOf({1, 2})))))
                .find("tensor 'w' has 8 bytes of values; its "
                      "shape asks for 12"),
            std::string::npos);
  EXPECT_NE(refusalOf(with(tensor("w", {1}, 1, field(9, rawOf({1, 2}))))), "");
  EXPECT_NE(refusalOf(with(tensor("w", {3}, 7, field(7, varint(1) + varint(2) + varint(3) + varint(4))))), "");
  EXPECT_NE(refusalOf(with(tensor("w", {3}, 7, field(7, varint(1))))), "");
  EXPECT_NE(refusalOf(with(tensor("w", {1}, 1, field(7, varint(1))))).find("of type F32 has int64_data"),
            std::string::npos);
  EXPECT_NE(refusalOf(with(tensor("w", {1}, 8, field(6, "text")))).find("values of type 8"), std::string::npos);
  EXPECT_NE(refusalOf(with(tensor("w", {int64_t{1} << 40, int64_t{1} << 40}, 1, ""))).find("exceeds 64 bits"),
            std::string::npos);
  EXPECT_NE(refusalOf(with(tensor("w", {int64_t{1} << 40}, 1, ""))).find("are left for such tensors"),
            std::string::npos);
  EXPECT_NE(refusalOf(with(tensor("w", {-1}, 1, ""))).find("negative"), std::string::npos);
  EXPECT_NE(refusalOf(with(tensor("w", {1}, 1, field(13, field(1, "location") + field(2, "w.data")) + number(14, 1))))
                .find("are in another file, which is not read; export with external_data=False"),
            std::string::npos);
  EXPECT_NE(refusalOf(with(tensor("w", {1}, 1, field(9, rawOf({1})) + field(4, rawOf({1}))))), "");
}

TEST(OnnxModel, RefusesOtherVersions) {
  EXPECT_NE(refusalOf(model({}, 12)).find("the operators are those of version 12; versions 13 to 21 are read"),
            std::string::npos);
  EXPECT_NE(refusalOf(model({}, 22)), "");
  EXPECT_EQ(refusalOf(model({}, 13)), "");
  EXPECT_EQ(refusalOf(model({}, 21)), "");
  EXPECT_NE(refusalOf("").find("the file has no graph"), std::string::npos);
  EXPECT_NE(refusalOf(number(1, 99) + model({}).substr(2)).find("the IR version is 99"), std::string::npos);
}

TEST(OnnxModel, RefusesWhatIsNoProtobuf) {
  const std::string good = small();
  for (size_t size = 1; size < good.size(); ++size) {
    EXPECT_NE(refusalOf(good.substr(0, size)), "") << size << " of " << good.size() << " bytes";
  }
  EXPECT_NE(refusalOf(good.substr(0, good.size() - 1)).find("are left in its message"), std::string::npos);
  EXPECT_NE(refusalOf("\x0b").find("wire type 3"), std::string::npos);
  EXPECT_NE(refusalOf(std::string(11, '\xff')).find("more than"), std::string::npos);
  EXPECT_NE(refusalOf(number(9, 1)).find("ModelProto has no field 9"), std::string::npos);
  EXPECT_NE(refusalOf(field(1, "text")).find("wire type 2; it must be 0"), std::string::npos);
  EXPECT_NE(refusalOf(field(2, "\xff")).find("is not UTF-8"), std::string::npos);
  const auto parsed = parseOnnx(bytesOf(number(1, 8) + field(7, field(1, number(99, 1)))));
  ASSERT_FALSE(parsed.ok());
  EXPECT_EQ(parsed.error().offset, 6U) << parsed.error().text;
}

TEST(OnnxModel, KeepsItsLimits) {
  EXPECT_NE(refusalOf(small(), {.nodes = 0}).find("more than 0 nodes"), std::string::npos);
  EXPECT_NE(refusalOf(small(), {.tensors = 1}).find("more than 1 initializers"), std::string::npos);
  EXPECT_NE(refusalOf(small(), {.values = 1}), "");
  EXPECT_NE(refusalOf(small(), {.attributes = 3}).find("more than 3 attributes of a node"), std::string::npos);
  std::string empty;
  for (int i = 0; i < 65; ++i) empty += field(5, "");
  EXPECT_NE(refusalOf(model({.nodes = {empty}, .tensors = {}})).find("more than 64 attributes of a node"),
            std::string::npos);
  EXPECT_NE(refusalOf(small(), {.listed = 3}).find("numbers of an attribute"), std::string::npos);
  EXPECT_NE(refusalOf(small(), {.textBytes = 3}).find("the limit is 3"), std::string::npos);
  EXPECT_NE(refusalOf(small(), {.unpacked = 15}).find("15 are left"), std::string::npos);
  EXPECT_NE(refusalOf(small(), {.bytes = 10}).find("at most 10"), std::string::npos);
}

}  // namespace
}  // namespace tandem
