#include "executor/compile/fusion.h"

#include <gtest/gtest.h>

#include <map>
#include <set>

#include "base/text.h"
#include "graph/operation.h"
#include "models/model.h"

namespace tandem {
namespace {

/// "name(inputs)>output" of every call, by node names; "+relu" or the like where one is part of it.
std::vector<std::string> described(const Graph& graph) {
  std::vector<std::string> calls;
  for (const PlannedNode& call : fuse(graph, at::kCPU)) {
    std::vector<std::string> inputs;
    for (const NodeId id : call.inputs) inputs.push_back(graph.node(id).name);
    calls.push_back(concat(graph.node(call.node).name, '(', join(inputs, ","), ")>", graph.node(call.output).name,
                           call.activation == Activation::none ? "" : concat("+", operationOf(call.activation))));
  }
  return calls;
}

struct Net {
  Graph graph{ImageShape{4, 8, 8}};
  NodeId add(std::string_view operation, std::string name, std::vector<NodeId> inputs) {
    return graph.add(operation, std::move(name), std::move(inputs), {.outputs = 4});
  }
};

using Calls = std::vector<std::string>;

TEST(Fusion, BatchNormTakesTheReluBehindIt) {
  Net net;
  net.add("relu", "relu", {net.add("batch_norm", "bn", {net.add("conv", "conv", {0})})});
  EXPECT_EQ(described(net.graph), (Calls{"conv(input)>conv", "bn(conv)>relu+relu"}));
}

TEST(Fusion, BatchNormTakesOtherActivationsWhereTheKernelsHaveThem) {
  for (const std::string activation : {"relu6", "silu", "hard_swish"}) {
    Net net;
    net.add(activation, "activation", {net.add("batch_norm", "bn", {0})});
    EXPECT_EQ(described(net.graph), Calls{concat("bn(input)>activation+", activation)});
    EXPECT_EQ(fuse(net.graph, at::kCUDA).size(), 2);
  }
}

TEST(Fusion, ASumIsTakenWithAReluAlone) {
  Net net;
  const NodeId norm = net.add("batch_norm", "bn", {net.add("conv", "conv", {0})});
  net.add("silu", "silu", {net.add("add", "add", {norm, 0})});
  EXPECT_EQ(described(net.graph), (Calls{"conv(input)>conv", "bn(conv)>bn", "add(bn,input)>add", "silu(add)>silu"}));
}

TEST(Fusion, BatchNormTakesTheSumAndTheReluBehindIt) {
  Net net;
  const NodeId norm = net.add("batch_norm", "bn", {net.add("conv", "conv", {0})});
  net.add("relu", "relu", {net.add("add", "add", {norm, 0})});
  EXPECT_EQ(described(net.graph), (Calls{"conv(input)>conv", "bn(conv,input)>relu+relu"}));
}

TEST(Fusion, OfTwoBatchNormsTheLaterTakesTheSum) {
  Net net;
  const NodeId main = net.add("batch_norm", "main", {0});
  const NodeId skip = net.add("batch_norm", "skip", {0});
  net.add("relu", "relu", {net.add("add", "add", {main, skip})});
  EXPECT_EQ(described(net.graph), (Calls{"main(input)>main", "skip(input,main)>relu+relu"}));
}

TEST(Fusion, WhatSomebodyElseReadsStays) {
  Net net;
  const NodeId norm = net.add("batch_norm", "bn", {0});
  const NodeId relu = net.add("relu", "relu", {norm});
  net.add("add", "add", {norm, relu});
  EXPECT_EQ(described(net.graph), (Calls{"bn(input)>bn", "relu(bn)>relu", "add(bn,relu)>add"}));
}

TEST(Fusion, CountsWhoReadsAnOutput) {
  Net net;
  const NodeId first = net.add("relu", "r1", {net.add("batch_norm", "n1", {0})});
  const NodeId second = net.add("relu", "r2", {net.add("add", "s", {net.add("batch_norm", "n2", {first}), first})});
  const NodeId third = net.add("add", "twice", {second, second});
  net.add("relu", "r3", {third});
  std::map<std::string, int> readers;
  for (const PlannedNode& call : fuse(net.graph, at::kCPU)) readers[net.graph.node(call.output).name] = call.readers;
  EXPECT_EQ(readers, (std::map<std::string, int>{{"r1", 2}, {"r2", 2}, {"twice", 1}, {"r3", 1}}))
      << "r1 has the sum that is part of a call; r3 has the graph's caller";
}

TEST(Fusion, ASumOfThreeIsNotAResidual) {
  Net net;
  const NodeId norm = net.add("batch_norm", "bn", {0});
  net.add("relu", "relu", {net.add("add", "add", {norm, 0, 0})});
  EXPECT_EQ(described(net.graph), (Calls{"bn(input)>bn", "add(bn,input,input)>add", "relu(add)>relu"}));
}

TEST(Fusion, KnowsTheBatchNormsThatAloneReadAConvolution) {
  Net net;
  const NodeId first = net.add("conv", "first", {0}), second = net.add("conv", "second", {0});
  net.add("batch_norm", "shared", {first});
  const NodeId main = net.add("batch_norm", "main", {net.add("conv", "third", {first})});
  net.add("relu", "relu", {net.add("add", "add", {main, second})});
  net.add("batch_norm", "behind", {net.add("batch_norm", "alone", {net.add("conv", "fourth", {0})})});
  std::vector<std::string> found;
  for (const PlannedNode& call : fuse(net.graph, at::kCPU)) {
    if (call.afterConvolution) found.push_back(net.graph.node(call.node).name);
  }
  EXPECT_EQ(found, (Calls{"main", "alone"})) << "not as a residual, not what is behind a batch-norm";
}

TEST(Fusion, EveryModelsCallsHaveTheirInputsAndEveryParameterItsCall) {
  for (const ModelEntry& model : models()) {
    const Graph graph = buildModel(model.name, {});
    std::set<NodeId> made{graph.input()}, run;
    for (const PlannedNode& call : fuse(graph, at::kCPU)) {
      for (const NodeId input : call.inputs) EXPECT_TRUE(made.contains(input)) << model.name;
      EXPECT_TRUE(made.insert(call.output).second) << model.name;
      EXPECT_TRUE(run.insert(call.node).second) << model.name;
    }
    EXPECT_TRUE(made.contains(graph.output())) << model.name;
    for (const Parameter& parameter : graph.parameters()) EXPECT_TRUE(run.contains(parameter.node)) << parameter.name;
  }
}

}  // namespace
}  // namespace tandem
