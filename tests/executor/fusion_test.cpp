#include "executor/fusion.h"

#include <gtest/gtest.h>

#include "base/text.h"
#include "graph/operation.h"
#include "models/model.h"

namespace tandem {
namespace {

/// "name(inputs)>output+absorbed" of every call, by node names.
std::vector<std::string> described(const Graph& graph) {
  std::vector<std::string> calls;
  for (const PlannedNode& call : fuse(graph)) {
    std::vector<std::string> inputs, absorbed;
    for (const NodeId id : call.inputs) inputs.push_back(graph.node(id).name);
    for (const NodeId id : call.absorbed) absorbed.push_back(graph.node(id).name);
    calls.push_back(concat(call.node->name, '(', join(inputs, ","), ")>", graph.node(call.output).name,
                           absorbed.empty() ? "" : "+", join(absorbed, "+")));
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

TEST(Fusion, BatchNormTakesTheSumAndTheReluBehindIt) {
  Net net;
  const NodeId norm = net.add("batch_norm", "bn", {net.add("conv", "conv", {0})});
  net.add("relu", "relu", {net.add("add", "add", {norm, 0})});
  EXPECT_EQ(described(net.graph), (Calls{"conv(input)>conv", "bn(conv,input)>relu+add+relu"}));
}

TEST(Fusion, OfTwoBatchNormsTheLaterTakesTheSum) {
  Net net;
  const NodeId main = net.add("batch_norm", "main", {0});
  const NodeId skip = net.add("batch_norm", "skip", {0});
  net.add("relu", "relu", {net.add("add", "add", {main, skip})});
  EXPECT_EQ(described(net.graph), (Calls{"main(input)>main", "skip(input,main)>relu+add+relu"}));
}

TEST(Fusion, WhatSomebodyElseReadsStays) {
  Net net;
  const NodeId norm = net.add("batch_norm", "bn", {0});
  const NodeId relu = net.add("relu", "relu", {norm});
  net.add("add", "add", {norm, relu});
  EXPECT_EQ(described(net.graph), (Calls{"bn(input)>bn", "relu(bn)>relu", "add(bn,relu)>add"}));
}

TEST(Fusion, TheOutputStays) {
  Net net;
  const NodeId norm = net.add("batch_norm", "bn", {0});
  net.add("add", "add", {norm, 0});
  EXPECT_EQ(described(net.graph), (Calls{"bn(input)>bn", "add(bn,input)>add"}));
}

TEST(Fusion, ASumOfThreeIsNotAResidual) {
  Net net;
  const NodeId norm = net.add("batch_norm", "bn", {0});
  net.add("relu", "relu", {net.add("add", "add", {norm, 0, 0})});
  EXPECT_EQ(described(net.graph), (Calls{"bn(input)>bn", "add(bn,input,input)>add", "relu(add)>relu"}));
}

TEST(Fusion, EveryNodeOfEveryModelIsRunOnceAfterItsInputs) {
  for (const ModelEntry& model : models()) {
    const Graph graph = buildModel(model.name, {});
    std::vector<int> made(graph.nodes().size(), 0);
    made[0] = 1;
    for (const PlannedNode& call : fuse(graph)) {
      for (const NodeId input : call.inputs) EXPECT_EQ(made[static_cast<size_t>(input)], 1) << model.name;
      ++made[static_cast<size_t>(call.output)];
      if (call.absorbed.empty()) continue;
      EXPECT_EQ(call.absorbed.back(), call.output);
      for (size_t i = 0; i + 1 < call.absorbed.size(); ++i) ++made[static_cast<size_t>(call.absorbed[i])];
      for (NodeId id = 0; id < call.output; ++id) {
        if (&graph.node(id) == call.node) ++made[static_cast<size_t>(id)];
      }
    }
    EXPECT_EQ(made, std::vector<int>(made.size(), 1)) << model.name;
  }
}

}  // namespace
}  // namespace tandem
