#include "graph/graph.h"

#include <gtest/gtest.h>

#include <set>

#include "base/error.h"
#include "graph/operation.h"

namespace tandem {
namespace {

ImageShape shapeAfter(ImageShape input, const char* operation, const Attributes& attributes) {
  Graph graph(input);
  return graph.node(graph.add(operation, "node", {0}, attributes)).shape;
}

std::string refusal(ImageShape input, const char* operation, const Attributes& attributes,
                    std::vector<NodeId> inputs = {0}) {
  Graph graph(input);
  try {
    graph.add(operation, "stage.7", std::move(inputs), attributes);
  } catch (const UsageError& error) {
    return error.what();
  }
  return "accepted";
}

TEST(Graph, StartsWithItsInput) {
  const Graph graph({3, 8, 6});
  EXPECT_EQ(graph.node(graph.input()).name, "input");
  EXPECT_EQ(graph.node(graph.output()).shape, (ImageShape{3, 8, 6}));
  EXPECT_THROW(Graph({0, 8, 6}), UsageError);
  EXPECT_THROW(Graph({3, 8, -1}), UsageError);
}

TEST(Graph, OfAnotherImageSizeDiffersInShapesOrInMore) {
  const auto graph = [](int64_t side, const char* pool, int64_t outputs, const char* name = "fc") {
    Graph made({3, side, side});
    const NodeId conv = made.add("conv", "conv", {0}, {.outputs = 4, .kernelH = 3, .kernelW = 3});
    made.add("linear", name, {made.add(pool, "pool", {conv})}, {.outputs = outputs});
    return made;
  };
  const Graph pooled = graph(8, "global_avg_pool", 5), flat = graph(8, "flatten", 5);
  EXPECT_EQ(differenceBesidesShapes(pooled, graph(9, "global_avg_pool", 5)), "");
  EXPECT_EQ(differenceBesidesShapes(pooled, graph(8, "global_avg_pool", 6)), "fc") << "another attribute";
  EXPECT_EQ(differenceBesidesShapes(pooled, graph(8, "global_avg_pool", 5, "head")), "fc") << "another name";
  EXPECT_EQ(differenceBesidesShapes(pooled, flat), "pool") << "another operation";
  EXPECT_EQ(differenceBesidesShapes(flat, graph(9, "flatten", 5)), "fc") << "a parameter of another shape";
  Graph longer = pooled;
  longer.add("relu", "end", {longer.output()});
  EXPECT_EQ(differenceBesidesShapes(pooled, longer), "end");
  EXPECT_EQ(differenceBesidesShapes(longer, pooled), "end");
  Graph other({3, 8, 8});
  const NodeId relu = other.add("relu", "a", {0});
  Graph wired = other;
  other.add("relu", "b", {relu}), wired.add("relu", "b", {0});
  EXPECT_EQ(differenceBesidesShapes(other, wired), "b") << "another input";
}

TEST(Graph, NamesParametersByNodeInOrder) {
  Graph graph({4, 5, 5});
  const NodeId conv = graph.add("conv", "a.conv", {0}, {.outputs = 6, .kernelH = 3, .kernelW = 2, .groups = 2});
  const NodeId norm = graph.add("batch_norm", "a.bn", {conv});
  const NodeId flat = graph.add("flatten", "flat", {norm});
  graph.add("linear", "fc", {flat}, {.outputs = 7, .bias = false});
  const auto parameters = graph.parameters();
  ASSERT_EQ(parameters.size(), 5U);
  EXPECT_EQ(parameters[0].name, "a.conv.weight");
  EXPECT_EQ(parameters[0].shape, (std::vector<int64_t>{6, 2, 3, 2}));
  EXPECT_EQ(parameters[0].fanIn, 12);
  EXPECT_EQ(parameters[1].name, "a.conv.bias");
  EXPECT_EQ(parameters[1].role, ParameterRole::bias);
  EXPECT_EQ(parameters[2].role, ParameterRole::normScale);
  EXPECT_EQ(parameters[3].node, norm);
  EXPECT_EQ(parameters[4].name, "fc.weight");
  EXPECT_EQ(parameters[4].shape, (std::vector<int64_t>{7, 6 * 3 * 4}));
}

TEST(Graph, CountsParametersVariablesFlopsAndActivations) {
  Graph graph({2, 4, 4});
  const NodeId conv = graph.add("conv", "conv", {0}, {.outputs = 3, .kernelH = 3, .kernelW = 3});  // [3, 2, 2]
  const NodeId norm = graph.add("batch_norm", "bn", {conv});
  const NodeId flat = graph.add("flatten", "flat", {norm});
  graph.add("linear", "fc", {flat}, {.outputs = 5});
  EXPECT_EQ(parameterCount(graph), (3 * 2 * 9 + 3) + 6 + (5 * 12 + 5));
  EXPECT_EQ(variableCount(graph), parameterCount(graph) + 6 + 1);
  EXPECT_EQ(forwardFlops(graph), 2.0 * (12 * 18 + 5 * 12));
  EXPECT_EQ(activationCount(graph), 32 + 12 + 12 + 12 + 5);
  EXPECT_EQ(trainingFlops(graph), 2.0 * (2 * 12 * 18 + 3 * 5 * 12)) << "no gradient of the images";
}

TEST(Graph, TheGradientOfAnInputThatNothingTrainedIsBeforeIsNotCounted) {
  Graph graph({1, 2, 2});
  const NodeId flat = graph.add("flatten", "flat", {0});
  const NodeId first = graph.add("linear", "first", {flat}, {.outputs = 3, .bias = false});
  graph.add("linear", "second", {first}, {.outputs = 5, .bias = false});
  EXPECT_EQ(trainingFlops(graph), 2.0 * (2 * 4 * 3 + 3 * 3 * 5));
}

TEST(Graph, RefusesATakenName) {
  Graph graph({1, 2, 2});
  graph.add("relu", "relu", {0});
  EXPECT_THROW(graph.add("relu", "relu", {1}), UsageError);
  EXPECT_THROW(graph.add("relu", "input", {1}), UsageError);
  EXPECT_EQ(graph.nodes().size(), 2U);
}

TEST(Graph, RefusesALaterInput) {
  Graph graph({1, 2, 2});
  EXPECT_THROW(graph.add("relu", "relu", {1}), InternalError);
  EXPECT_THROW(graph.add("relu", "relu", {-1}), InternalError);
}

TEST(Graph, SuggestsTheNearestOperation) {
  EXPECT_NE(refusal({1, 2, 2}, "batchnorm", {}).find("did you mean 'batch_norm'"), std::string::npos);
}

TEST(Operation, NamesDiffer) {
  std::set<std::string_view> names;
  for (const Operation& operation : operations()) EXPECT_TRUE(names.insert(operation.name).second) << operation.name;
}

TEST(Shape, OfConvolution) {
  EXPECT_EQ(
      shapeAfter({3, 224, 224}, "conv",
                 {.outputs = 64, .kernelH = 7, .kernelW = 7, .strideH = 2, .strideW = 2, .padding = Padding::all(3)}),
      (ImageShape{64, 112, 112}));
  EXPECT_EQ(shapeAfter({3, 32, 32}, "conv",
                       {.outputs = 4, .kernelH = 3, .kernelW = 3, .strideH = 2, .strideW = 2, .padding = {0, 1, 0, 1}}),
            (ImageShape{4, 16, 16}));
  EXPECT_EQ(shapeAfter({3, 9, 7}, "conv", {.outputs = 4, .kernelH = 3, .kernelW = 1, .strideH = 1, .strideW = 3}),
            (ImageShape{4, 7, 3}));
}

TEST(Shape, OfPoolingRoundsDownOrUp) {
  const Attributes down{.kernelH = 3, .kernelW = 3, .strideH = 2, .strideW = 2};
  Attributes up = down;
  up.ceilMode = true;
  EXPECT_EQ(shapeAfter({8, 6, 7}, "max_pool", down), (ImageShape{8, 2, 3}));
  EXPECT_EQ(shapeAfter({8, 6, 7}, "avg_pool", up), (ImageShape{8, 3, 3}));
  const Attributes beyond{.strideH = 2, .strideW = 2, .ceilMode = true};  // a third window would start at 4 of 4
  EXPECT_EQ(shapeAfter({8, 4, 4}, "max_pool", beyond), (ImageShape{8, 2, 2}));
}

TEST(Shape, OfTheOtherOperations) {
  EXPECT_EQ(shapeAfter({8, 5, 9}, "adaptive_avg_pool", {.poolH = 7, .poolW = 2}), (ImageShape{8, 7, 2}));
  EXPECT_EQ(shapeAfter({8, 5, 9}, "global_avg_pool", {}), (ImageShape{8, 1, 1}));
  EXPECT_EQ(shapeAfter({8, 5, 8}, "subsample", {.strideH = 2, .strideW = 2}), (ImageShape{8, 3, 4}));
  EXPECT_EQ(shapeAfter({8, 5, 8}, "pad_channels", {.outputs = 11}), (ImageShape{11, 5, 8}));
  EXPECT_EQ(shapeAfter({8, 5, 8}, "pad", {.padding = {-1, 2, 0, 3}}), (ImageShape{8, 6, 11}));
  EXPECT_EQ(shapeAfter({8, 5, 8}, "first_channels", {.outputs = 3}), (ImageShape{3, 5, 8}));
  EXPECT_EQ(shapeAfter({8, 5, 8}, "channel_range", {.outputs = 3, .first = 5}), (ImageShape{3, 5, 8}));
  EXPECT_EQ(shapeAfter({8, 5, 8}, "channel_shuffle", {.groups = 4}), (ImageShape{8, 5, 8}));
  EXPECT_EQ(
      shapeAfter({8, 9, 8}, "dilated_conv", {.outputs = 2, .kernelH = 3, .kernelW = 2, .dilationH = 4, .dilationW = 3}),
      (ImageShape{2, 1, 5}));
  EXPECT_EQ(shapeAfter({8, 5, 8}, "flatten", {}), (ImageShape{320, 1, 1}));
  EXPECT_EQ(shapeAfter({8, 1, 1}, "linear", {.outputs = 10}), (ImageShape{10, 1, 1}));
  EXPECT_EQ(shapeAfter({8, 5, 8}, "dropout", {.probability = 0}), (ImageShape{8, 5, 8}));
}

TEST(Shape, OfTokens) {
  EXPECT_EQ(shapeAfter({8, 5, 4}, "class_token", {}), (ImageShape{8, 21, 1}));
  EXPECT_EQ(shapeAfter({8, 21, 1}, "position_embedding", {}), (ImageShape{8, 21, 1}));
  EXPECT_EQ(shapeAfter({8, 21, 1}, "attention", {.heads = 4}), (ImageShape{8, 21, 1}));
  EXPECT_EQ(shapeAfter({8, 21, 1}, "first_token", {}), (ImageShape{8, 1, 1}));
  EXPECT_EQ(shapeAfter({8, 21, 3}, "box_values", {.outputs = 4}), (ImageShape{4, 126, 1}));
  EXPECT_EQ(shapeAfter({8, 21, 3}, "channel_linear", {.outputs = 5}), (ImageShape{5, 21, 3}));
}

TEST(Graph, NamesParametersAsTheirOperationsSay) {
  Graph graph({4, 3, 2});
  const NodeId tokens = graph.add("class_token", "token", {0});
  const NodeId placed = graph.add("position_embedding", "place", {tokens});
  const NodeId mixed = graph.add("attention", "mix", {placed}, {.heads = 2});
  graph.add("layer_scale", "scale", {graph.add("layer_norm", "norm", {mixed})});
  std::vector<std::pair<std::string, std::vector<int64_t>>> found;
  for (const Parameter& parameter : graph.parameters()) found.emplace_back(parameter.name, parameter.shape);
  const decltype(found) expected{{"token", {1, 1, 4}},       {"place", {1, 7, 4}}, {"mix.in_proj_weight", {12, 4}},
                                 {"mix.in_proj_bias", {12}}, {"norm.weight", {4}}, {"norm.bias", {4}},
                                 {"scale", {4, 1, 1}}};
  EXPECT_EQ(found, expected);
  EXPECT_EQ(forwardFlops(graph), 2.0 * 7 * 4 * 12 + 4.0 * 7 * 7 * 4);
  EXPECT_EQ(variableCount(graph), parameterCount(graph) + 1);
}

TEST(Graph, KnowsWhatOnlyAuxiliaryValuesNeed) {
  Graph graph({4, 1, 1});
  const NodeId shared = graph.add("linear", "shared", {0}, {.outputs = 4});
  const NodeId head = graph.add("linear", "head", {graph.add("relu", "relu", {shared})}, {.outputs = 2});
  graph.add("linear", "fc", {shared}, {.outputs = 2});
  EXPECT_EQ(auxiliaryOnly(graph), (std::vector<bool>{false, false, false, false, false}));
  graph.addAuxiliary(head, 0.5);
  EXPECT_EQ(auxiliaryOnly(graph), (std::vector<bool>{false, false, true, true, false}));
  EXPECT_EQ(graph.outputs(), (std::vector<NodeId>{graph.output(), head}));
}

TEST(Shape, OfSeveralInputs) {
  Graph graph({3, 4, 4});
  const NodeId wide = graph.add("conv", "wide", {0}, {.outputs = 5});
  const NodeId small = graph.add("global_avg_pool", "small", {0});
  EXPECT_EQ(graph.node(graph.add("concat", "concat", {0, wide, 0})).shape, (ImageShape{11, 4, 4}));
  EXPECT_EQ(graph.node(graph.add("multiply", "multiply", {0, small})).shape, (ImageShape{3, 4, 4}));
  EXPECT_THROW(graph.add("concat", "sizes", {0, small}), UsageError);
  const NodeId tokens = graph.add("class_token", "tokens", {0});
  EXPECT_EQ(graph.node(graph.add("join_tokens", "joined", {tokens, tokens})).shape, (ImageShape{3, 34, 1}));
  EXPECT_THROW(graph.add("join_tokens", "pixels", {tokens, 0}), UsageError);
  EXPECT_THROW(graph.add("multiply", "channels", {wide, small}), UsageError);
}

TEST(Shape, RefusalNamesNodeOperationInputAndValues) {
  const std::string text = refusal({3, 2, 2}, "conv", {.outputs = 4, .kernelH = 5, .kernelW = 5});
  for (const char* part : {"stage.7", "conv", "[3, 2, 2]", "kernel 5x5", "2x2"}) {
    EXPECT_NE(text.find(part), std::string::npos) << part << " in: " << text;
  }
}

TEST(Shape, RefusesAnAdditionOfDifferentShapes) {
  Graph graph({3, 4, 4});
  const NodeId small = graph.add("subsample", "small", {0}, {.strideH = 2, .strideW = 2});
  EXPECT_THROW(graph.add("add", "sum", {0, small}), UsageError);
  EXPECT_EQ(graph.node(graph.add("add", "sum", {0, 0, 0})).shape, (ImageShape{3, 4, 4}));
}

struct Broken {
  const char* operation;
  Attributes attributes;
  const char* rule;
};

TEST(Shape, RefusesWhatBreaksARule) {
  const Broken all[] = {
      {"conv", {}, "outputs 0"},
      {"conv", {.outputs = 4, .groups = 2}, "groups 2"},
      {"conv", {.outputs = 4, .groups = 3}, "groups 3"},
      {"conv", {.outputs = 4, .kernelH = 0}, "kernel 0x1"},
      {"conv", {.outputs = 4, .strideW = 0}, "stride 1x0"},
      {"conv", {.outputs = 4, .padding = {0, -1, 0, 0}}, "bottom -1"},
      {"linear", {.outputs = 4}, "must be flat"},
      {"batch_norm", {.epsilon = 0}, "epsilon 0"},
      {"batch_norm", {.momentum = 1.5}, "momentum 1.5"},
      {"max_pool", {.kernelH = 5, .kernelW = 2}, "kernel 5x2"},
      {"max_pool", {.kernelH = 2, .kernelW = 2, .padding = {0, 1, 0, 1}}, "must be symmetric"},
      {"avg_pool", {.kernelH = 3, .kernelW = 3, .padding = Padding::all(2)}, "at most half"},
      {"adaptive_avg_pool", {.poolH = 7}, "7x0"},
      {"subsample", {.strideH = -2}, "stride -2x1"},
      {"pad_channels", {.outputs = 2}, "outputs 2"},
      {"pad", {.padding = {-2, -2, 0, 0}}, "leaves nothing"},
      {"pad", {.padding = {0, 0, 1, -4}}, "leaves nothing"},
      {"first_channels", {.outputs = 4}, "outputs 4"},
      {"channel_range", {.outputs = 2, .first = 2}, "channels from 2, 2 of them"},
      {"channel_range", {.outputs = 1, .first = -1}, "channels from -1"},
      {"channel_shuffle", {.groups = 2}, "groups 2"},
      {"dilated_conv", {.outputs = 4, .kernelH = 3, .dilationH = 2}, "kernel 5x1"},
      {"dilated_conv", {.outputs = 4, .dilationW = 0}, "dilation 1x0"},
      {"box_values", {.outputs = 2}, "must divide"},
      {"dropout", {.probability = 1}, "probability 1"},
      {"stochastic_depth", {.probability = -0.5}, "probability -0.5"},
      {"layer_norm", {.epsilon = -1}, "epsilon -1"},
      {"channel_linear", {.outputs = -2}, "outputs -2"},
      {"position_embedding", {}, "must be tokens"},
      {"attention", {.heads = 2}, "heads 2"},
      {"attention", {}, "must be tokens"},
      {"first_token", {}, "must be tokens"},
  };
  for (const Broken& broken : all) {
    const std::string text = refusal({3, 4, 4}, broken.operation, broken.attributes);
    EXPECT_NE(text.find(broken.rule), std::string::npos) << broken.operation << ": " << text;
  }
}

TEST(Shape, RefusesAWrongNumberOfInputs) {
  EXPECT_NE(refusal({3, 4, 4}, "add", {}).find("two or more"), std::string::npos);
  EXPECT_NE(refusal({3, 4, 4}, "relu", {}, {0, 0}).find("it takes 1"), std::string::npos);
  EXPECT_NE(refusal({3, 4, 4}, "input", {}, {}).find("one input"), std::string::npos);
}

}  // namespace
}  // namespace tandem
