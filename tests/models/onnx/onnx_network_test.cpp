#include "models/onnx/onnx_network.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>

#include "base/error.h"
#include "base/text.h"
#include "formats/network/network_file.h"
#include "models/model.h"
#include "models/onnx/imported_graphs.h"

namespace tandem {
namespace {

using namespace onnx_writer;

TEST(OnnxNetwork, IsReadWithItsWeights) {
  const Strings parts{"bn.weight", "bn.bias", "bn.running_mean", "bn.running_var"};
  Strings tensors;
  for (const std::string& part : parts) tensors.push_back(floats(part, {4}, static_cast<float>(tensors.size())));
  const TestGraph graph = between({node("BatchNormalization", {"c", parts[0], parts[1], parts[2], parts[3]}, "b",
                                        attribute("epsilon", 1e-3F) + attribute("momentum", 0.8F)),
                                   node("Relu", {"b"}, "r")},
                                  tensors);
  const OnnxImport made = imported(graph);
  EXPECT_EQ(nodesOf(made), (Strings{"conv: conv(input) outputs=4 kernel=3 padding=1 bias=false",
                                    "bn: batch_norm(conv) epsilon=0.001 momentum=0.2", "r: relu(bn)",
                                    "p: global_avg_pool(r)", "fc: linear(p) outputs=classes bias=false"}));
  EXPECT_EQ(made.network.file.name, "net");
  EXPECT_EQ(made.network.file.classes, 5);
  EXPECT_EQ(made.network.sha256, made.weights.sha256());
  EXPECT_EQ(made.weights.format(), "onnx");
  EXPECT_EQ(made.weights.tensors().size(), 6U);
  EXPECT_EQ(valuesOf(made, "bn.running_var"), (std::vector<float>{3, 3.125, 3.25, 3.375}));
  EXPECT_EQ(valuesOf(made, "fc.weight").at(19), 19.0F / 8);
}

TEST(OnnxNetwork, ReadsConvolutionsOfAllForms) {
  const auto conv = [](const std::string& attributes, const Wholes& weight = {4, 4, 3, 3}) {
    return middleOf({node("Conv", {"c", "w", "w.bias"}, "r", attributes)}, {floats("w", weight), floats("w.bias", {4})})
        .at(0);
  };
  EXPECT_EQ(conv(attribute("strides", Wholes{2, 1}) + attribute("pads", Wholes{1, 2, 3, 4})),
            "w: conv(conv) outputs=4 kernel=3 stride=2,1 padding=1,3,2,4");
  EXPECT_EQ(conv(attribute("group", int64_t{4}), {4, 1, 3, 3}), "w: conv(conv) outputs=4 kernel=3 groups=4");
  EXPECT_EQ(conv(attribute("dilations", Wholes{2, 2})), "w: dilated_conv(conv) outputs=4 kernel=3 dilation=2");
  EXPECT_EQ(conv(attribute("auto_pad", "SAME_UPPER") + attribute("strides", Wholes{2, 2})),
            "w: conv(conv) outputs=4 kernel=3 stride=2 padding=0,1,0,1");
  EXPECT_EQ(conv(attribute("auto_pad", "SAME_LOWER") + attribute("strides", Wholes{2, 2})),
            "w: conv(conv) outputs=4 kernel=3 stride=2 padding=1,0,1,0");
  EXPECT_NE(whyNot({node("Conv", {"c", "w"}, "r")}, {floats("w", {4, 3, 3, 3})}).find("does not fit the layer"),
            std::string::npos);
}

TEST(OnnxNetwork, PadsBecomeTheConvolutions) {
  const Strings middle = middleOf({node("Pad", {"c", "pads"}, "d"), node("Conv", {"d", "w.weight"}, "r")},
                                  {wholes("pads", {0, 0, 1, 2, 0, 0, 3, 4}), floats("w.weight", {4, 4, 3, 3})});
  EXPECT_EQ(middle, (Strings{"w: conv(conv) outputs=4 kernel=3 padding=1,3,2,4 bias=false"}));
  EXPECT_NE(whyNot({node("Pad", {"c", "pads"}, "r")}, {wholes("pads", {0, 1, 0, 0, 0, 0, 0, 0})}), "");
}

TEST(OnnxNetwork, ReadsPools) {
  const auto pool = [](const std::string& operation, const std::string& attributes) {
    return middleOf({node(operation, {"c"}, "r", attribute("kernel_shape", Wholes{3, 3}) + attributes)}).at(0);
  };
  const std::string stride = attribute("strides", Wholes{2, 2});
  EXPECT_EQ(pool("MaxPool", stride + attribute("pads", Wholes{1, 1, 1, 1})),
            "r: max_pool(conv) kernel=3 stride=2 padding=1");
  EXPECT_EQ(pool("MaxPool", stride + attribute("ceil_mode", int64_t{1})),
            "r: max_pool(conv) kernel=3 stride=2 ceil_mode=true");
  EXPECT_EQ(pool("MaxPool", stride + attribute("auto_pad", "SAME_UPPER")),
            "r: max_pool(conv) kernel=3 stride=2 ceil_mode=true")
      << "pixels behind the last edge never win";
  EXPECT_EQ(pool("AveragePool", stride), "r: avg_pool(conv) kernel=3 stride=2 count_padding=false");
  EXPECT_EQ(pool("AveragePool", stride + attribute("count_include_pad", int64_t{1})),
            "r: avg_pool(conv) kernel=3 stride=2");
  EXPECT_NE(whyNot({node("AveragePool", {"c"}, "r",
                         attribute("kernel_shape", Wholes{3, 3}) + stride + attribute("auto_pad", "SAME_UPPER") +
                             attribute("count_include_pad", int64_t{1}))})
                .find("pads are unequal"),
            std::string::npos);
}

TEST(OnnxNetwork, ReadsActivationsAndWhatTheyAreMadeOf) {
  const Strings numbers{real("zero", 0),           real("six", 6), real("three", 3),
                        real("root", 1.41421354F), real("one", 1), real("half", 0.5F)};
  EXPECT_EQ(middleOf({node("Clip", {"c", "zero", "six"}, "r")}, numbers), (Strings{"r: relu6(conv)"}));
  EXPECT_EQ(middleOf({node("HardSwish", {"c"}, "r")}), (Strings{"r: hard_swish(conv)"}));
  EXPECT_EQ(middleOf({node("HardSigmoid", {"c"}, "r", attribute("alpha", 1 / 6.0F))}),
            (Strings{"r: hard_sigmoid(conv)"}));
  EXPECT_EQ(middleOf({node("Sigmoid", {"c"}, "s"), node("Mul", {"s", "c"}, "r")}), (Strings{"r: silu(conv)"}));
  EXPECT_EQ(middleOf({node("Div", {"c", "root"}, "d"), node("Erf", {"d"}, "e"), node("Add", {"e", "one"}, "a"),
                      node("Mul", {"c", "a"}, "m"), node("Mul", {"m", "half"}, "r")},
                     numbers),
            (Strings{"m: gelu(conv)"}));
  EXPECT_EQ(middleOf({node("Add", {"c", "three"}, "a"), node("Clip", {"a", "zero", "six"}, "b"),
                      node("Mul", {"c", "b"}, "m"), node("Div", {"m", "six"}, "r")},
                     numbers),
            (Strings{"m: hard_swish(conv)"}));
  EXPECT_NE(whyNot({node("HardSigmoid", {"c"}, "r")}).find("alpha must be 1/6"), std::string::npos);
  EXPECT_NE(whyNot({node("Clip", {"c", "zero", "three"}, "r")}, numbers).find("its limits"), std::string::npos);
  EXPECT_NE(whyNot({node("Add", {"c", "three"}, "a"), node("Relu", {"a"}, "r")}, numbers).find("a number, 3, is added"),
            std::string::npos);
  EXPECT_NE(whyNot({node("Mul", {"c", "c"}, "r")}).find("no operation for a square alone"), std::string::npos);
}

TEST(OnnxNetwork, ReadsGeluByTanhHoweverItIsWritten) {
  EXPECT_EQ(middleOf({node("Gelu", {"c"}, "r", attribute("approximate", "tanh"))}), (Strings{"r: gelu_tanh(conv)"}));
  EXPECT_EQ(middleOf({node("Gelu", {"c"}, "r")}), (Strings{"r: gelu(conv)"}));
  EXPECT_NE(whyNot({node("Gelu", {"c"}, "r", attribute("approximate", "erf"))}).find("must be none or tanh"),
            std::string::npos);
  const Strings numbers{real("three", 3),      real("kappa", 0.044715F), real("root", 0.7978845608F),
                        real("other", 0.045F), real("one", 1),           real("half", 0.5F)};
  const Strings power{node("Pow", {"c", "three"}, "cube")};
  const Strings product{node("Mul", {"c", "c"}, "square"), node("Mul", {"c", "square"}, "cube")};
  const Strings swapped{node("Mul", {"c", "c"}, "square"), node("Mul", {"square", "c"}, "cube")};
  const auto rest = [](Strings nodes, const std::string& kappa, const std::string& root, const std::string& gated) {
    for (const std::string& next :
         {node("Mul", {kappa, "cube"}, "k"), node("Add", {"k", "c"}, "i"), node("Mul", {root, "i"}, "s"),
          node("Tanh", {"s"}, "t"), node("Add", {"t", "one"}, "a"), node("Mul", {gated, "a"}, "m"),
          node("Mul", {"m", "half"}, "r")}) {
      nodes.push_back(next);
    }
    return nodes;
  };
  for (const Strings& cube : {power, product, swapped}) {
    EXPECT_EQ(middleOf(rest(cube, "kappa", "root", "c"), numbers), (Strings{"m: gelu_tanh(conv)"}));
    EXPECT_NE(whyNot(rest(cube, "other", "root", "c"), numbers), "") << "another factor of the cube";
    EXPECT_NE(whyNot(rest(cube, "kappa", "other", "c"), numbers), "") << "another factor of the sum";
  }
  Strings relu{node("Relu", {"c"}, "q")};
  relu.push_back(power.front());
  EXPECT_NE(whyNot(rest(relu, "kappa", "root", "q"), numbers), "") << "the gate of another tensor";
}

TEST(OnnxNetwork, ReadsGatesAndFactors) {
  EXPECT_EQ(
      middleOf({node("GlobalAveragePool", {"c"}, "g"), node("Sigmoid", {"g"}, "s"), node("Mul", {"s", "c"}, "r")}),
      (Strings{"g: global_avg_pool(conv)", "s: sigmoid(g)", "r: multiply(conv, s)"}));
  EXPECT_EQ(middleOf({node("Mul", {"c", "half"}, "m"), node("Relu", {"m"}, "r")}, {real("half", 0.5F)}),
            (Strings{"rescale: rescale(conv) alpha=0.5", "r: relu(rescale)"}));
  const TestGraph scaled = between({node("Mul", {"c", "gamma"}, "r")}, {floats("gamma", {4, 1, 1}, 1)});
  const OnnxImport made = imported(scaled);
  EXPECT_EQ(nodesOf(made).at(1), "gamma: layer_scale(conv)");
  EXPECT_EQ(valuesOf(made, "gamma"), (std::vector<float>{1, 1.125, 1.25, 1.375}));
}

TEST(OnnxNetwork, ReadsShuffledAndSplitChannels) {
  const Strings shuffled{node("Reshape", {"c", "apart"}, "d"),
                         node("Transpose", {"d"}, "e", attribute("perm", Wholes{0, 2, 1, 3, 4})),
                         node("Reshape", {"e", "together"}, "s")};
  const Strings sizes{wholes("apart", {1, 2, 2, 8, 8}), wholes("together", {1, -1, 8, 8})};
  Strings middle = shuffled;
  middle.push_back(node("Relu", {"s"}, "r"));
  EXPECT_EQ(middleOf(middle, sizes),
            (Strings{"channel_shuffle: channel_shuffle(conv) groups=2", "r: relu(channel_shuffle)"}));
  Strings padded = shuffled;
  padded.push_back(node("Pad", {"s", "pads"}, "q"));
  padded.push_back(node("Relu", {"q"}, "r"));
  EXPECT_EQ(
      middleOf(padded, {sizes[0], sizes[1], wholes("pads", {0, 0, 1, 1, 0, 0, 1, 1})}),
      (Strings{"channel_shuffle: channel_shuffle(conv) groups=2", "q: pad(channel_shuffle) padding=1", "r: relu(q)"}));
  EXPECT_EQ(middleOf({node("Split", {"c", "sizes"}, "a", attribute("axis", int64_t{1}) + field(2, "b")),
                      node("Relu", {"b"}, "e"), node("Concat", {"e", "a"}, "r", attribute("axis", int64_t{1}))},
                     {wholes("sizes", {1, 3})}),
            (Strings{"channel_range: channel_range(conv) outputs=3 first=1", "e: relu(channel_range)",
                     "channel_range_1: channel_range(conv) outputs=1", "r: concat(e, channel_range_1)"}));
}

TEST(OnnxNetwork, TakesPartsOutOfSequences) {
  const auto split = [](const std::string& sizes) {
    return node("SplitToSequence", {"c", sizes}, "s", attribute("axis", int64_t{1}));
  };
  const Strings tensors{scalar("three", 3), wholes("sizes", {1, 3}), scalar("first", 0), scalar("last", -1)};
  const auto nodes = [&](const std::string& sizes) {
    return Strings{split(sizes), node("SequenceAt", {"s", "last"}, "b"), node("SequenceAt", {"s", "first"}, "a"),
                   node("Relu", {"b"}, "e"), node("Concat", {"e", "a"}, "r", attribute("axis", int64_t{1}))};
  };
  EXPECT_EQ(middleOf(nodes("sizes"), tensors),
            (Strings{"channel_range: channel_range(conv) outputs=3 first=1", "e: relu(channel_range)",
                     "channel_range_1: channel_range(conv) outputs=1", "r: concat(e, channel_range_1)"}));
  EXPECT_EQ(middleOf(nodes("three"), tensors),
            (Strings{"channel_range: channel_range(conv) outputs=1 first=3", "e: relu(channel_range)",
                     "channel_range_1: channel_range(conv) outputs=3", "r: concat(e, channel_range_1)"}))
      << "of equal parts the last one has what is left";
  const auto refusalWith = [](const Strings& middle) {
    return whyNot(middle, {scalar("none", 0), scalar("two", 2), scalar("four", 4), floats("k", {4, 1, 1}, 1)});
  };
  const Strings twice{split("four"), node("SequenceAt", {"s", "none"}, "a"), node("SequenceAt", {"s", "none"}, "b"),
                      node("Add", {"a", "k"}, "d"), node("Add", {"d", "b"}, "r")};
  EXPECT_NE(refusalWith(twice).find("a sum with a constant that is neither a bias nor"), std::string::npos)
      << "the layer is read without the constant too";
  EXPECT_NE(refusalWith({split("none"), node("SequenceAt", {"s", "two"}, "r")}).find("in parts of size 0"),
            std::string::npos);
  EXPECT_EQ(middleOf({split("most"), node("SequenceAt", {"s", "first"}, "e"), node("Relu", {"e"}, "r")},
                     {scalar("most", INT64_MAX), scalar("first", 0)}),
            Strings{"r: relu(conv)"})
      << "one part may be all";
  EXPECT_NE(refusalWith({split("two"), node("SequenceAt", {"s", "two"}, "r")}).find("none of 2 parts"),
            std::string::npos);
  EXPECT_NE(refusalWith({split("two"), node("Relu", {"s"}, "r")}).find("must depend on the images"), std::string::npos);
  EXPECT_NE(refusalWith({split("two"), node("Shape", {"s"}, "r")}).find("has no shape"), std::string::npos);
  EXPECT_NE(refusalWith({node("SequenceAt", {"c", "two"}, "r")}).find("must be a sequence"), std::string::npos);
}

TEST(OnnxNetwork, LayoutsBecomeNoNodes) {
  const Strings middle{node("Transpose", {"c"}, "h", attribute("perm", Wholes{0, 2, 3, 1})),
                       node("LayerNormalization", {"h", "n.weight", "n.bias"}, "l", attribute("epsilon", 1e-6F)),
                       node("MatMul", {"l", "m"}, "m1"),
                       node("Add", {"m1", "mlp.bias"}, "m2"),
                       node("Transpose", {"m2"}, "t", attribute("perm", Wholes{0, 3, 1, 2})),
                       node("Add", {"t", "c"}, "r")};
  const TestGraph graph =
      between(middle, {floats("n.weight", {4}), floats("n.bias", {4}), floats("m", {4, 4}), floats("mlp.bias", {4})});
  const OnnxImport made = imported(graph);
  const Strings lines = nodesOf(made);
  EXPECT_EQ(Strings(lines.begin() + 1, lines.begin() + 4),
            (Strings{"n: layer_norm(conv) epsilon=1e-06", "mlp: channel_linear(n) outputs=4", "r: add(mlp, conv)"}));
  EXPECT_EQ(valuesOf(made, "mlp.weight").at(1), 4.0F / 8) << "a matrix [inputs, outputs] is transposed";
}

TEST(OnnxNetwork, FoldsShapes) {
  const TestGraph graph{
      .nodes = {node("Conv", {"x", "conv.weight"}, "c"), node("Shape", {"c"}, "s"), node("Gather", {"s", "zero"}, "n"),
                node("Unsqueeze", {"n", "axes"}, "u"),
                node("Concat", {"u", "rest"}, "t", attribute("axis", int64_t{0})), node("Reshape", {"c", "t"}, "f"),
                node("Gemm", {"f", "w.weight", "w.bias"}, "g", attribute("transB", int64_t{1})),
                node("Softmax", {"g"}, "y", attribute("axis", int64_t{1}))},
      .tensors = {floats("conv.weight", {4, 3, 3, 3}), scalar("zero", 0), wholes("axes", {0}), wholes("rest", {-1}),
                  floats("w.weight", {5, 144}), floats("w.bias", {5})},
      .input = {0, 3, 8, 8}};
  const OnnxImport made = imported(graph);
  EXPECT_EQ(nodesOf(made), (Strings{"conv: conv(input) outputs=4 kernel=3 bias=false", "f: flatten(conv)",
                                    "w: linear(f) outputs=classes"}));
  EXPECT_NE(made.weights.note().find("(Softmax, byte"), std::string::npos) << made.weights.note();
}

Strings attentionNodes(float scale) {
  Strings nodes{node("Conv", {"x", "conv.weight"}, "c"),
                node("Reshape", {"c", "flat"}, "t"),
                node("Transpose", {"t"}, "u", attribute("perm", Wholes{0, 2, 1})),
                node("Expand", {"class", "one"}, "token"),
                node("Concat", {"token", "u"}, "v", attribute("axis", int64_t{1})),
                node("Add", {"v", "place"}, "w"),
                node("MatMul", {"w", "qkv"}, "q0"),
                node("Add", {"q0", "a.in_proj_bias"}, "q"),
                node("Reshape", {"q", "heads"}, "k"),
                node("Transpose", {"k"}, "l", attribute("perm", Wholes{2, 0, 3, 1, 4}))};
  for (const std::string i : {"0", "1", "2"}) {
    nodes.push_back(node("Gather", {"l", "i" + i}, "n" + i, attribute("axis", int64_t{0})));
  }
  for (const std::string& more :
       {node("Transpose", {"n1"}, "kt", attribute("perm", Wholes{0, 1, 3, 2})), node("MatMul", {"n0", "kt"}, "a0"),
        node("Mul", {"a0", scale == 0 ? "none" : "scale"}, "a1"), node("Softmax", {"a1"}, "a2"),
        node("MatMul", {"a2", "n2"}, "o"), node("Transpose", {"o"}, "o1", attribute("perm", Wholes{0, 2, 1, 3})),
        node("Reshape", {"o1", "back"}, "o2"), node("Gather", {"o2", "i0"}, "f", attribute("axis", int64_t{1})),
        node("Gemm", {"f", "fc.weight"}, "y", attribute("transB", int64_t{1}))}) {
    nodes.push_back(more);
  }
  return nodes;
}

Strings attentionTensors(float scale) {
  Strings tensors{floats("conv.weight", {8, 3, 4, 4}),
                  wholes("flat", {1, 8, 25}),
                  floats("class", {1, 1, 8}),
                  wholes("one", {1, 1, 1}),
                  floats("place", {1, 26, 8}),
                  floats("qkv", {8, 24}),
                  floats("a.in_proj_bias", {24}),
                  wholes("heads", {1, 26, 3, 2, 4}),
                  wholes("back", {1, 26, 8}),
                  floats("fc.weight", {5, 8}),
                  real("scale", scale)};
  for (const int64_t i : {0, 1, 2}) tensors.push_back(scalar(concat("i", i), i));
  return tensors;
}

TEST(OnnxNetwork, ReadsAttention) {
  const OnnxImport made = imported({.nodes = attentionNodes(0.5F), .tensors = attentionTensors(0.5F)});
  EXPECT_EQ(nodesOf(made), (Strings{"conv: conv(input) outputs=8 kernel=4 bias=false", "class: class_token(conv)",
                                    "place: position_embedding(class)", "a: attention(place) heads=2",
                                    "f: first_token(a)", "fc: linear(f) outputs=classes bias=false"}));
  EXPECT_EQ(valuesOf(made, "a.in_proj_weight").at(1), 24.0F / 8);
  EXPECT_EQ(valuesOf(made, "a.in_proj_bias").at(23), 23.0F / 8);
  EXPECT_NE(refusalOf({.nodes = attentionNodes(1), .tensors = attentionTensors(1)}).find("its scale is 1; it must be"),
            std::string::npos);
  Strings twice = attentionNodes(0.5F);
  const auto softmax = std::ranges::find(twice, node("Softmax", {"a1"}, "a2"));
  ASSERT_NE(softmax, twice.end());
  *softmax = node("Softmax", {"b"}, "a2");
  twice.insert(softmax, node("Softmax", {"a1"}, "b"));
  EXPECT_NE(
      refusalOf({.nodes = twice, .tensors = attentionTensors(0.5F)}).find("a softmax of the weights of attention"),
      std::string::npos);
}

TEST(OnnxNetwork, RefusesByNodeOperatorAndReason) {
  EXPECT_NE(whyNot({node("Conv", {"c"}, "r")}).find("net.onnx: node 'r' (Conv, byte "), std::string::npos);
  EXPECT_NE(whyNot({node("Einsum", {"c"}, "r")}).find("the operator is not read; there are Add, "), std::string::npos);
  EXPECT_NE(whyNot({node("Relu", {"later"}, "r")}).find("is read before it is made"), std::string::npos);
  EXPECT_NE(whyNot({node("Relu", {"c"}, "r", attribute("alpha", 1.0F))}).find("attribute 'alpha' is not read"),
            std::string::npos);
  EXPECT_NE(whyNot({node("Erf", {"c"}, "r")}).find("it is read in GELU alone"), std::string::npos);
  EXPECT_NE(whyNot({node("Relu", {"c"}, "r", field(7, "com.microsoft"))}).find("of domain 'com.microsoft'"),
            std::string::npos);
  EXPECT_NE(whyNot({node("Relu", {"c"}, "c")}).find("is made twice"), std::string::npos);
  TestGraph grey = between({node("Relu", {"c"}, "r")}, {});
  grey.input = {1, 1, 8, 8};
  EXPECT_NE(refusalOf(grey), "");
  grey.input = {1, 3, 8};
  EXPECT_NE(refusalOf(grey).find("must have four dimensions"), std::string::npos);
}

std::string written(const TestGraph& graph, const std::string& name) {
  std::string path = testing::TempDir() + name;
  std::ofstream(path, std::ios::binary) << model(graph);
  return path;
}

TEST(OnnxNetwork, IsAModelLikeOthers) {
  const std::string path = written(between({node("Relu", {"c"}, "r")}, {}), "onnx_network_test_model.onnx");
  const ModelFacts facts = modelFacts(path);
  EXPECT_EQ(facts.name, "onnx_network_test_model");
  EXPECT_EQ(facts.input, (ImageShape{3, 8, 8}));
  EXPECT_EQ(facts.classes, 5);
  EXPECT_EQ(facts.sha256, openOnnxWeights(path).sha256());
  const Graph graph = buildModel(path, {.classes = 7, .imageSize = 9});
  EXPECT_EQ(graph.node(graph.output()).shape, (ImageShape{7, 1, 1}));
  EXPECT_EQ(graph.node(1).shape, (ImageShape{4, 9, 9}));
  EXPECT_NE(modelText(path).find(R"("outputs":"classes")"), std::string::npos);
}

TEST(OnnxNetwork, IsReadAgainWhenItsFileHasChanged) {
  const std::string name = "onnx_network_test_changed.onnx";
  const std::string path = written(between({node("Relu", {"c"}, "r")}, {}), name);
  const std::string before = openOnnxNetwork(path).sha256;
  EXPECT_EQ(openOnnxNetwork(path).sha256, before);
  written(between({node("Sigmoid", {"c"}, "r")}, {}), name);
  EXPECT_NE(openOnnxNetwork(path).sha256, before);
}

TEST(OnnxNetwork, FreeSizesAreThoseOfTheImages) {
  TestGraph graph = between(
      {node("Conv", {"c", "w.weight"}, "r", attribute("auto_pad", "SAME_UPPER") + attribute("strides", Wholes{2, 2}))},
      {floats("w.weight", {4, 4, 3, 3})});
  graph.input = {0, 3, 0, 0};
  const std::string path = written(graph, "onnx_network_test_free.onnx");
  EXPECT_EQ(modelFacts(path).input, (ImageShape{3, 224, 224}));
  EXPECT_EQ(buildModel(path, {}).node(2).shape, (ImageShape{4, 112, 112}));
  EXPECT_EQ(buildModel(path, {.imageSize = 299}).node(2).shape, (ImageShape{4, 150, 150})) << "padding 1,1,1,1";
  const TestGraph flat{.nodes = {node("Conv", {"x", "w.weight"}, "c", attribute("strides", Wholes{112, 112})),
                                 node("Flatten", {"c"}, "f"), node("Gemm", {"f", "fc.weight"}, "y")},
                       .tensors = {floats("w.weight", {1, 3, 112, 112}), floats("fc.weight", {4, 5})},
                       .input = {0, 3, 0, 0}};
  const std::string fixed = written(flat, "onnx_network_test_flat.onnx");
  EXPECT_EQ(buildModel(fixed, {}).node(1).shape, (ImageShape{1, 2, 2}));
  const std::string why = textOfFailure<UsageError>([&] { buildModel(fixed, {.imageSize = 448}); });
  EXPECT_NE(why.find("images of 448 pixels: "), std::string::npos) << why;
}

TEST(OnnxNetwork, RefusesExpandedTensorsBeyondMemory) {
  const auto expectPart = [](const std::string& text, std::string_view part) {
    EXPECT_NE(text.find(part), std::string::npos) << text;
  };
  const std::string large = wholes("s", {1 << 25, 4}), kernel = wholes("k", {1 << 20, 4, 8, 8});
  expectPart(whyNot({node("Expand", {"t", "s"}, "z"), node("Reshape", {"z", "s"}, "r")}, {large, floats("t", {4})}),
             "come to more than");
  expectPart(whyNot({node("ConstantOfShape", {"k"}, "z"), node("Conv", {"c", "z"}, "r")}, {kernel}),
             "is one number expanded to");
  expectPart(
      whyNot({node("ConstantOfShape", {"s"}, "z"), node("Reshape", {"z", "k"}, "z1"), node("Conv", {"c", "z1"}, "r")},
             {wholes("s", {1 << 14, 1 << 14}), kernel}),
      "is one number expanded to");
}

}  // namespace
}  // namespace tandem
