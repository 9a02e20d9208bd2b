#include <gtest/gtest.h>

#include <map>
#include <string>

#include "executor/executor.h"

namespace tandem {
namespace {

std::map<std::string, ParameterSpec> specsOf(const Graph& graph) {
  std::map<std::string, ParameterSpec> all;
  for (ParameterSpec& spec : parameterSpecs(graph)) all.emplace(spec.name, spec);
  return all;
}

TEST(ParameterSpecs, SayWhatIsAWeightAndWhatIsTheHeads) {
  Graph graph({3, 8, 8});
  NodeId at = graph.add("conv", "conv", {graph.input()}, {.outputs = 4});
  at = graph.add("batch_norm", "bn", {at});
  const NodeId side = graph.add("flatten", "side_flatten", {at});
  const NodeId auxiliary = graph.add("linear", "side", {side}, {.outputs = 2});
  at = graph.add("flatten", "flatten", {at});
  at = graph.add("linear", "hidden", {at}, {.outputs = 5});
  at = graph.add("linear", "fc", {at}, {.outputs = 2});
  graph.add("relu", "end", {at});
  graph.addAuxiliary(auxiliary, 0.3);
  auto specs = specsOf(graph);
  for (const char* weight : {"conv.weight", "hidden.weight", "fc.weight", "side.weight"}) {
    EXPECT_TRUE(specs.at(weight).isWeight) << weight;
  }
  for (const char* other : {"conv.bias", "bn.weight", "bn.bias", "fc.bias"}) {
    EXPECT_FALSE(specs.at(other).isWeight) << other;
  }
  for (const auto& [name, spec] : specs) {
    EXPECT_EQ(spec.isHead, name.starts_with("fc.") || name.starts_with("side.")) << name;
    EXPECT_EQ(spec.isShift, name == "bn.bias") << name;
    EXPECT_FALSE(spec.whitens) << name;
  }
}

TEST(ParameterSpecs, SayWhatIsOfAWhiteningConvolution) {
  Graph graph({3, 8, 8});
  const NodeId white = graph.add("conv", "white", {graph.input()}, {.outputs = 6, .whitening = true});
  graph.add("conv", "conv", {white}, {.outputs = 4});
  for (const auto& [name, spec] : specsOf(graph)) EXPECT_EQ(spec.whitens, name.starts_with("white.")) << name;
}

TEST(ParameterSpecs, ANetworkWithoutParametersHasNone) {
  Graph graph({3, 8, 8});
  graph.add("relu", "relu", {graph.input()});
  EXPECT_TRUE(parameterSpecs(graph).empty());
}

}  // namespace
}  // namespace tandem
