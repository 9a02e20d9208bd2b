#pragma once

#include <functional>
#include <string>
#include <vector>

#include "graph/graph.h"
#include "graph/operation.h"

namespace tandem::golden {

/// Makes a mistake in a node; false: the node is left out.
using Change = std::function<bool(Node&)>;

inline Graph changed(const Graph& graph, const Change& change) {
  Graph result(graph.node(graph.input()).shape);
  std::vector<NodeId> idOf{result.input()};
  for (const Node& original : graph.nodes().subspan(1)) {
    Node node = original;
    std::vector<NodeId> inputs;
    for (const NodeId input : node.inputs) inputs.push_back(idOf.at(static_cast<size_t>(input)));
    const bool stays = change(node);
    idOf.push_back(stays ? result.add(node.operation->name, node.name, inputs, node.attributes) : inputs.front());
  }
  for (const Auxiliary& auxiliary : graph.auxiliaries()) {
    result.addAuxiliary(idOf.at(static_cast<size_t>(auxiliary.value)), auxiliary.lossWeight);
  }
  return result;
}

inline Change without(const std::string& name) {
  return [=](const Node& node) { return node.name != name; };
}

}  // namespace tandem::golden
