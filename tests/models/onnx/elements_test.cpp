#include <gtest/gtest.h>

#include "models/onnx/imported_graphs.h"
#include "models/onnx/importer.h"

namespace tandem {
namespace {

using namespace onnx_writer;

TEST(OnnxNetwork, ConstantsBelongToLayersThatNothingElseReads) {
  const std::string_view apart = "a sum with a constant that is neither a bias nor";
  const Strings alias{node("Identity", {"c"}, "i"), node("Add", {"i", "k"}, "a"), node("Add", {"a", "c"}, "r")};
  EXPECT_NE(whyNot(alias, {floats("k", {4, 1, 1}, 1)}).find(apart), std::string::npos);
  TestGraph graph = between({node("Relu", {"c"}, "r")}, {floats("prior", {5}, 1)});
  graph.nodes.push_back(node("Add", {"y", "prior"}, "z"));
  graph.moreOutputs = {"z"};
  EXPECT_NE(refusalOf(graph).find(apart), std::string::npos) << "the first output is read without the sum";
  const Strings measured{node("Conv", {"c", "w.weight"}, "d"), node("Shape", {"d"}, "s"), node("Size", {"d"}, "n"),
                         node("Add", {"d", "w.bias"}, "r")};
  EXPECT_EQ(middleOf(measured, {floats("w.weight", {4, 4, 3, 3}), floats("w.bias", {4, 1, 1})}),
            (Strings{"w: conv(conv) outputs=4 kernel=3"}))
      << "a node that reads the shape alone";
}

TEST(OnnxNetwork, ReadsTheBiasOfOneOutput) {
  const Strings middle{node("Transpose", {"c"}, "h", attribute("perm", Wholes{0, 2, 3, 1})),
                       node("MatMul", {"h", "m"}, "m1"), node("Add", {"m1", "d.bias"}, "d"),
                       node("MatMul", {"d", "n"}, "m2"),
                       node("Transpose", {"m2"}, "r", attribute("perm", Wholes{0, 3, 1, 2}))};
  const OnnxImport made =
      imported(between(middle, {floats("m", {4, 1}), floats("d.bias", {1}, 3), floats("n", {1, 4})}));
  const Strings lines = nodesOf(made);
  EXPECT_EQ(Strings(lines.begin() + 1, lines.begin() + 3),
            (Strings{"d: channel_linear(conv) outputs=1", "m2: channel_linear(d) outputs=4 bias=false"}));
  EXPECT_EQ(valuesOf(made, "d.bias"), (std::vector<float>{3}));
}

}  // namespace
}  // namespace tandem
