#include "graph/state.h"

#include <gtest/gtest.h>

#include "base/error.h"

namespace tandem {
namespace {

Graph classifier(bool byConvolution) {
  Graph graph({3, 8, 8});
  NodeId at = graph.add("conv", "conv", {0}, {.outputs = 6, .kernelH = 3, .kernelW = 3, .bias = false});
  at = graph.add("relu", "relu", {graph.add("batch_norm", "bn", {at})});
  const NodeId side = graph.add("linear", "aux.fc",
                                {graph.add("flatten", "aux.flatten", {graph.add("global_avg_pool", "aux.pool", {at})})},
                                {.outputs = 5});
  graph.addAuxiliary(side, 0.3);
  if (byConvolution) {
    at = graph.add("relu", "head.relu", {graph.add("conv", "head", {at}, {.outputs = 5})});
    graph.add("flatten", "flat", {graph.add("global_avg_pool", "pool", {at})});
  } else {
    at = graph.add("flatten", "flat", {graph.add("global_avg_pool", "pool", {at})});
    graph.add("linear", "head", {graph.add("dropout", "drop", {at})}, {.outputs = 5});
  }
  return graph;
}

std::vector<std::string> namesOf(const Graph& graph) {
  std::vector<std::string> names;
  for (const Node& node : graph.nodes()) names.push_back(node.name);
  return names;
}

TEST(State, HoldsParametersAndStatistics) {
  std::vector<std::string> names;
  for (const StateTensor& tensor : stateTensors(classifier(false))) names.push_back(tensor.name);
  EXPECT_EQ(names, (std::vector<std::string>{"conv.weight", "bn.weight", "bn.bias", "aux.fc.weight", "aux.fc.bias",
                                             "head.weight", "head.bias", "bn.running_mean", "bn.running_var"}));
  const StateTensor variance = stateTensors(classifier(false)).back();
  EXPECT_EQ(variance.shape, std::vector<int64_t>{6});
  EXPECT_EQ(variance.kind, StateTensor::Kind::runningVariance);
}

TEST(State, FindsTheHeads) {
  for (const bool byConvolution : {false, true}) {
    const Graph graph = classifier(byConvolution);
    const auto heads = headNodes(graph);
    ASSERT_EQ(heads.size(), 2U);
    EXPECT_EQ(graph.node(heads[0]).name, "head");
    EXPECT_EQ(graph.node(heads[1]).name, "aux.fc");
  }
  Graph bare({3, 8, 8});
  bare.add("relu", "relu", {0});
  EXPECT_THROW(headNodes(bare), UsageError);
}

TEST(State, FeaturesAreWhatTheHeadReads) {
  const Graph features = featureGraph(classifier(false));
  EXPECT_EQ(namesOf(features), (std::vector<std::string>{"input", "conv", "bn", "relu", "pool", "flat", "drop"}));
  EXPECT_EQ(features.node(features.output()).shape, (ImageShape{6, 1, 1}));
  const Graph pooled = featureGraph(classifier(true));
  EXPECT_EQ(namesOf(pooled),
            (std::vector<std::string>{"input", "conv", "bn", "relu", "features_avgpool", "features_flatten"}));
  EXPECT_EQ(pooled.node(pooled.output()).shape, (ImageShape{6, 1, 1}));
}

}  // namespace
}  // namespace tandem
