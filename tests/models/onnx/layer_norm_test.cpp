#include "models/onnx/layer_norm.h"

#include <gtest/gtest.h>

#include "models/onnx/imported_graphs.h"

namespace tandem {
namespace {

using namespace onnx_writer;

Strings channelsLast(Strings middle) {
  middle.insert(middle.begin(), node("Transpose", {"c"}, "h", attribute("perm", Wholes{0, 2, 3, 1})));
  middle.push_back(node("Transpose", {"z"}, "t", attribute("perm", Wholes{0, 3, 1, 2})));
  middle.push_back(node("Relu", {"t"}, "r"));
  return middle;
}

/// As models below opset 17 have it. `square` makes "q" of "d", `rest` makes "z" of the normalised "n".
Strings writtenOutNorm(const std::string& square, const Strings& rest) {
  const std::string lastAxis = attribute("axes", Wholes{-1});
  Strings middle{node("ReduceMean", {"h"}, "m", lastAxis),
                 node("Sub", {"h", "m"}, "d"),
                 square,
                 node("ReduceMean", {"q"}, "v", lastAxis),
                 node("Add", {"v", "epsilon"}, "e"),
                 node("Sqrt", {"e"}, "s"),
                 node("Div", {"d", "s"}, "n")};
  middle.insert(middle.end(), rest.begin(), rest.end());
  return channelsLast(middle);
}

TEST(OnnxNetwork, ReadsLayerNormThatIsWrittenOut) {
  const Strings tensors{real("two", 2), real("epsilon", 1e-6F), floats("norm.weight", {4}, 1),
                        floats("norm.bias", {4})};
  const std::string power = node("Pow", {"d", "two"}, "q"), times = node("Mul", {"d", "d"}, "q");
  const std::string scale = node("Mul", {"n", "norm.weight"}, "scaled"),
                    shift = node("Add", {"scaled", "norm.bias"}, "z");
  for (const std::string& square : {power, times}) {
    const OnnxImport made = imported(between(writtenOutNorm(square, {scale, shift}), tensors));
    EXPECT_EQ(nodesOf(made).at(1), "norm: layer_norm(conv) epsilon=1e-06");
    EXPECT_EQ(valuesOf(made, "norm.weight"), (std::vector<float>{1, 1.125, 1.25, 1.375}));
    EXPECT_EQ(valuesOf(made, "norm.bias"), (std::vector<float>{0, 0.125, 0.25, 0.375}));
  }
  const auto scaleAlone = imported(between(writtenOutNorm(power, {node("Mul", {"n", "norm.weight"}, "z")}), tensors));
  EXPECT_EQ(valuesOf(scaleAlone, "norm.bias"), (std::vector<float>(4, 0)));
  const auto shiftAlone = imported(between(writtenOutNorm(power, {node("Add", {"n", "norm.bias"}, "z")}), tensors));
  EXPECT_EQ(valuesOf(shiftAlone, "norm.weight"), (std::vector<float>(4, 1)));
  // (n + shift) * scale: the scale is not that of the norm.
  const OnnxImport swapped = imported(between(
      writtenOutNorm(power, {node("Add", {"n", "norm.bias"}, "scaled"), node("Mul", {"scaled", "norm.weight"}, "z")}),
      tensors));
  EXPECT_NE(nodesOf(swapped).at(2).find("layer_scale"), std::string::npos) << nodesOf(swapped).at(2);
  // The normalised value is read twice, so the scale is its own node.
  const OnnxImport twice = imported(
      between(writtenOutNorm(power, {node("Mul", {"n", "norm.weight"}, "scaled"), node("Add", {"n", "scaled"}, "z")}),
              tensors));
  EXPECT_NE(nodesOf(twice).at(2).find("layer_scale"), std::string::npos) << nodesOf(twice).at(2);
}

TEST(OnnxNetwork, PartsOfALayerNormAloneAreRefused) {
  const Strings numbers{real("two", 2), real("half", 0.5F), real("epsilon", 1e-6F)};
  const std::string mean = node("ReduceMean", {"h"}, "m", attribute("axes", Wholes{-1}));
  const std::string difference = node("Sub", {"h", "m"}, "z");
  const auto why = [&](const Strings& middle) { return whyNot(channelsLast(middle), numbers); };
  EXPECT_NE(why({mean, difference}).find("a difference from the mean over channels alone"), std::string::npos);
  EXPECT_NE(why({node("Sub", {"h", "h"}, "z")}).find("a difference of two tensors is read in layer norm"),
            std::string::npos);
  EXPECT_NE(why({node("Div", {"h", "h"}, "z")}).find("a quotient of two tensors is read in"), std::string::npos);
  EXPECT_NE(why({node("Pow", {"h", "two"}, "z")}).find("no operation for a square alone"), std::string::npos);
  EXPECT_NE(why({node("Pow", {"h", "half"}, "z")}).find("with an exponent but 2 and 3"), std::string::npos);
  EXPECT_NE(why({node("Sqrt", {"h"}, "z")}).find("a square root is read in layer norm"), std::string::npos);
  EXPECT_NE(why({node("Relu", {"h"}, "other"), mean, node("Sub", {"other", "m"}, "z")}).find("a difference of two"),
            std::string::npos);
  EXPECT_NE(why({node("ReduceMean", {"h"}, "z", attribute("axes", Wholes{-1}) + attribute("keepdims", int64_t{0}))})
                .find("a mean over channels that are left away"),
            std::string::npos);
}

}  // namespace
}  // namespace tandem
