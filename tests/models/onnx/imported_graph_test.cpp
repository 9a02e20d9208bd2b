#include "models/onnx/imported_graph.h"

#include <gtest/gtest.h>

#include "models/onnx/imported_graphs.h"

namespace tandem {
namespace {

using namespace onnx_writer;

TEST(OnnxNetwork, KeepsNamesOfParametersApart) {
  const OnnxImport made =
      imported(between({node("Conv", {"c", "w", "a.bias"}, "d"), node("Mul", {"d", "a.weight"}, "r")},
                       {floats("w", {4, 4, 3, 3}), floats("a.bias", {4}), floats("a.weight", {4, 1, 1}, 1)}));
  const Strings lines = nodesOf(made);
  EXPECT_EQ(Strings(lines.begin() + 1, lines.begin() + 3),
            (Strings{"a: conv(conv) outputs=4 kernel=3", "r: layer_scale(a)"}));
  EXPECT_EQ(valuesOf(made, "a.weight").size(), 144U);
  EXPECT_EQ(valuesOf(made, "r"), (std::vector<float>{1, 1.125, 1.25, 1.375}));
}

}  // namespace
}  // namespace tandem
