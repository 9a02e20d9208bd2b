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

TEST(OnnxImporter, SlicesEachAxisOnce) {
  const auto why = [](const Wholes& axes) {
    return whyNot(
        {node("Slice", {"c", "one", "end", "axes"}, "r")},
        {wholes("one", Wholes(axes.size(), 1)), wholes("end", Wholes(axes.size(), INT64_MAX)), wholes("axes", axes)});
  };
  EXPECT_EQ(why({2, 3}), "");
  expectPart(why({2, 2}), "an axis stands twice");
  expectPart(why({2, -2}), "an axis stands twice");
  expectPart(why({0, 1, 2, 3, 0}), "an axis stands twice");
}

TEST(OnnxImporter, BoundsTheNodesOfAllOperators) {
  std::string unnamed = attribute("axis", int64_t{3});
  for (int i = 1; i < 1024; ++i) unnamed += field(2, "");
  Strings splits;
  for (int i = 0; i < 40; ++i) splits.push_back(node("Split", {"x"}, concat('s', i), unnamed));
  const std::string why = refusalOf({.nodes = splits, .tensors = {}, .input = {1, 1, 1, 1024}});
  expectPart(why, "node 's39' (Split, byte ");
  expectPart(why, "the operators become more than 40000 nodes");
}

/// `count` Relu nodes of one name.
Strings equalNames(int count) {
  Strings nodes;
  for (int i = 0; i < count; ++i) {
    const std::string from = i == 0 ? "c" : concat("n", i), to = i + 1 == count ? "r" : concat("n", i + 1);
    nodes.push_back(field(1, from) + field(2, to) + field(3, "same") + field(4, "Relu"));
  }
  return nodes;
}

TEST(OnnxImporter, CountsEqualNamesUp) {
  Strings nodes = equalNames(4);
  nodes[1] = field(1, "n1") + field(2, "n2") + field(3, "same_2") + field(4, "Relu");
  EXPECT_EQ(middleOf(nodes),
            (Strings{"same: relu(conv)", "same_2: relu(same)", "same_1: relu(same_2)", "same_3: relu(same_1)"}));
  EXPECT_EQ(middleOf(equalNames(2000)).back(), "same_1999: relu(same_1998)");
}

TEST(OnnxImporter, RefusesNetworksOfMoreNodesThanFilesHave) {
  EXPECT_EQ(whyNot(equalNames(9)), "");
  expectPart(whyNot(equalNames(10'000)), "the model becomes 10003 nodes; a network has at most 10000");
}

TEST(OnnxImporter, AsksForMemoryBeforeConstantsAreJoined) {
  // "full" leaves less than 256 KiB; "many" asks for them before "matrix" is refused.
  const std::string why = whyNot(
      {node("Expand", {"t", "s"}, "e"), node("Reshape", {"e", "s"}, "full"), node("ConstantOfShape", {"n"}, "many"),
       node("Concat", {"many", "matrix"}, "r", attribute("axis", int64_t{0}))},
      {floats("t", {4}), wholes("s", {(1 << 22) - (1 << 13), 4}), wholes("n", {1 << 15}), floats("matrix", {1, 1})});
  expectPart(why, "node 'r' (Concat");
  expectPart(why, "computed tensors come to more than");
}

}  // namespace
}  // namespace tandem
