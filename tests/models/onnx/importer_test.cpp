#include "models/onnx/importer.h"

#include <gtest/gtest.h>

#include "models/onnx/imported_graphs.h"

namespace tandem {
namespace {

using namespace onnx_writer;

void expectPart(const std::string& text, std::string_view part) {
  EXPECT_NE(text.find(part), std::string::npos) << text.substr(0, 1000);
}

TEST(OnnxImporter, BoundsTheDimensionsOfValues) {
  Wholes shape{1, 4, 8, 8};
  shape.resize(32, 1);
  const Strings reshapes{node("Reshape", {"c", "s"}, "m"), node("Reshape", {"m", "back"}, "r")};
  EXPECT_EQ(middleOf(reshapes, {wholes("s", shape), wholes("back", {1, 4, 8, 8})}), Strings{});
  shape.push_back(1);
  expectPart(whyNot(reshapes, {wholes("s", shape), wholes("back", {1, 4, 8, 8})}),
             "value 'm' has 33 dimensions; at most 32 are read");
  expectPart(whyNot({node("ConstantOfShape", {"s"}, "z")}, {wholes("s", Wholes(33, 1))}), "'z' has 33 dimensions");
  // Indexes of r dimensions make 2 r - 1 of r.
  const std::string index = tensor("i2", {1, 1}, 7, field(7, varint(0)));
  Strings gathers;
  for (const auto& [from, to] : {std::pair("i2", "i3"), {"i3", "i5"}, {"i5", "i9"}, {"i9", "i17"}, {"i17", "i33"}}) {
    gathers.push_back(node("Gather", {from, from}, to));
  }
  expectPart(whyNot(gathers, {index}), "'i33' has 33 dimensions");
}

TEST(OnnxImporter, ChecksTheDimensionsOfOperands) {
  const TestGraph scalarValue{
      .nodes = {node("Conv", {"x", "w"}, "c"), node("Reshape", {"c", "row"}, "q"),
                node("Reshape", {"c", "column"}, "k"), node("MatMul", {"q", "k"}, "s"), node("Softmax", {"s"}, "a"),
                node("Conv", {"x", "v.weight"}, "one"), node("Squeeze", {"one"}, "v"), node("MatMul", {"a", "v"}, "y")},
      .tensors = {floats("w", {2, 3, 8, 8}), floats("v.weight", {1, 3, 8, 8}), wholes("row", {1, 1, 2}),
                  wholes("column", {1, 2, 1})}};
  expectPart(refusalOf(scalarValue), "node 'y' (MatMul");
  expectPart(refusalOf(scalarValue), "its values have fewer than three dimensions");
  const auto gemm = [](const Wholes& shape, int64_t isTransposed) {
    return refusalOf({.nodes = {node("GlobalAveragePool", {"x"}, "p"), node("Flatten", {"p"}, "f"),
                                node("Gemm", {"f", "w"}, "y", attribute("transB", isTransposed))},
                      .tensors = {floats("w", shape)}});
  };
  for (const Wholes& shape : {Wholes{}, Wholes{3}, Wholes{3, 5, 2}}) {
    expectPart(gemm(shape, 0), "its weight is no matrix");
    expectPart(gemm(shape, 1), "its weight is no matrix");
  }
  EXPECT_EQ(gemm({3, 5}, 0), "");
  EXPECT_EQ(gemm({5, 3}, 1), "");
}

}  // namespace
}  // namespace tandem
