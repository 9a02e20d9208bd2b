#include "graph/graph.h"

#include <algorithm>
#include <functional>
#include <numeric>

#include "base/catalog.h"
#include "base/error.h"
#include "base/text.h"
#include "graph/operation.h"

namespace tandem {
namespace {

std::string shapesText(std::span<const ImageShape> shapes) {
  std::vector<std::string> texts;
  for (const ImageShape& shape : shapes) texts.push_back(shapeText(shape));
  return join(texts);
}

void checkInputCount(const Operation& operation, size_t given) {
  if (operation.shape == nullptr) throw UsageError("a graph has one input, node 0");
  const bool fits = operation.inputs < 0 ? given >= 2 : given == static_cast<size_t>(operation.inputs);
  if (fits) return;
  const std::string rule = operation.inputs < 0 ? "two or more" : concat(operation.inputs);
  throw UsageError(concat(given, " inputs given, it takes ", rule));
}

ImageShape shapeOf(const Node& node, std::span<const ImageShape> inputs) {
  try {
    checkInputCount(*node.operation, inputs.size());
    return node.operation->shape(node.attributes, inputs);
  } catch (const UsageError& broken) {
    throw UsageError(
        concat("node '", node.name, "', ", node.operation->name, " of ", shapesText(inputs), ": ", broken.what()));
  }
}

constexpr double mostNumbers = 0x1p38;

void checkBound(const Node& node, double numbers, const char* what) {
  if (numbers <= mostNumbers) return;
  throw UsageError(concat("node '", node.name, "', ", node.operation->name, ": ", what, " come to ", numbers,
                          " numbers; there may be 2^38"));
}

double countOf(const ImageShape& shape) {
  return static_cast<double>(shape.channels) * static_cast<double>(shape.height) * static_cast<double>(shape.width);
}

/// Number of weights in the node's parameters. The factors were checked against bounds before.
double weightsOf(const Node& node, std::span<const ImageShape> inputs) {
  if (node.operation->parameters == nullptr) return 0;
  const Attributes& a = node.attributes;
  checkBound(node,
             static_cast<double>(a.kernelH) * static_cast<double>(a.kernelW) * countOf({inputs[0].channels, 1, 1}),
             "what one window reads");
  double weights = 0;
  for (const Parameter& parameter : node.operation->parameters(a, inputs)) {
    double count = 1;
    for (const int64_t size : parameter.shape) count *= static_cast<double>(size);
    weights += count;
  }
  return weights;
}

}  // namespace

int64_t Parameter::count() const {
  return std::accumulate(shape.begin(), shape.end(), int64_t{1}, std::multiplies<>());
}

Graph::Graph(ImageShape input) {
  if (input.channels < 1 || input.height < 1 || input.width < 1) {
    throw UsageError(concat("input shape ", shapeText(input), ": every extent must be at least 1"));
  }
  Node node;
  node.name = "input";
  node.operation = &find(operations(), "input", "operation");
  node.shape = input;
  nodes_.push_back(std::move(node));
}

std::vector<ImageShape> Graph::inputShapes(const Node& node) const {
  std::vector<ImageShape> shapes;
  for (const NodeId id : node.inputs) shapes.push_back(this->node(id).shape);
  return shapes;
}

NodeId Graph::add(std::string_view operation, std::string name, std::vector<NodeId> inputs, Attributes attributes) {
  Node node{std::move(name), &find(operations(), operation, "operation"), std::move(inputs), attributes, {}};
  const auto isEarlier = [this](NodeId id) { return id >= 0 && static_cast<size_t>(id) < nodes_.size(); };
  check(std::all_of(node.inputs.begin(), node.inputs.end(), isEarlier), "inputs of a node are earlier nodes");
  if (std::any_of(nodes_.begin(), nodes_.end(), [&](const Node& other) { return other.name == node.name; })) {
    throw UsageError(concat("node '", node.name, "': the name is taken; names of nodes must differ"));
  }
  const std::vector<ImageShape> shapes = inputShapes(node);
  node.shape = shapeOf(node, shapes);
  const double values = values_ + countOf(node.shape);
  checkBound(node, values, "the values up to here");
  const double weights = weights_ + weightsOf(node, shapes);
  checkBound(node, weights, "the parameters up to here");
  values_ = values, weights_ = weights;
  nodes_.push_back(std::move(node));
  return output();
}

std::vector<NodeId> Graph::outputs() const {
  std::vector<NodeId> all{output()};
  for (const Auxiliary& auxiliary : auxiliaries_) all.push_back(auxiliary.value);
  return all;
}

std::vector<Parameter> Graph::parameters() const {
  std::vector<Parameter> all;
  for (size_t id = 0; id < nodes_.size(); ++id) {
    const Node& node = nodes_[id];
    if (node.operation->parameters == nullptr) continue;
    for (Parameter& parameter : node.operation->parameters(node.attributes, inputShapes(node))) {
      parameter.name = parameter.name.empty() ? node.name : concat(node.name, ".", parameter.name);
      parameter.node = static_cast<NodeId>(id);
      all.push_back(std::move(parameter));
    }
  }
  return all;
}

std::string differenceBesidesShapes(const Graph& a, const Graph& b) {
  const size_t common = std::min(a.nodes().size(), b.nodes().size());
  for (size_t id = 0; id < common; ++id) {
    const Node &one = a.nodes()[id], &other = b.nodes()[id];
    if (one.operation != other.operation || one.name != other.name || one.inputs != other.inputs ||
        one.attributes != other.attributes) {
      return one.name;
    }
  }
  if (a.nodes().size() != b.nodes().size()) return (a.nodes().size() > common ? a : b).nodes()[common].name;
  const auto ofA = a.parameters(), ofB = b.parameters();
  for (size_t i = 0; i < ofA.size(); ++i) {  // as many of each node, by its operation
    if (ofA[i].shape != ofB.at(i).shape) return a.node(ofA[i].node).name;
  }
  return {};
}

std::vector<bool> auxiliaryOnly(const Graph& graph) {
  std::vector<bool> only(graph.nodes().size(), !graph.auxiliaries().empty());
  if (graph.auxiliaries().empty()) return only;
  only[static_cast<size_t>(graph.output())] = false;
  for (size_t id = only.size(); id-- > 0;) {
    if (only[id]) continue;
    for (const NodeId input : graph.nodes()[id].inputs) only[static_cast<size_t>(input)] = false;
  }
  return only;
}

int64_t parameterCount(const Graph& graph) {
  int64_t count = 0;
  for (const Parameter& parameter : graph.parameters()) count += parameter.count();
  return count;
}

int64_t variableCount(const Graph& graph) {
  int64_t count = 1;
  for (const Parameter& parameter : graph.parameters()) {
    const bool hasStatistics = graph.node(parameter.node).operation->traits.batchNorm;
    count += hasStatistics && parameter.role == ParameterRole::normShift ? 3 * parameter.count() : parameter.count();
  }
  return count;
}

double forwardFlops(const Graph& graph) {
  double flops = 0;
  for (const Node& node : graph.nodes()) {
    if (node.operation->flops == nullptr) continue;
    flops += node.operation->flops(node.attributes, graph.inputShapes(node), node.shape);
  }
  return flops;
}

double trainingFlops(const Graph& graph) {
  double flops = 0;
  std::vector<bool> trained;  // by node: a parameter is at the node or before it
  for (const Node& node : graph.nodes()) {
    const auto shapes = graph.inputShapes(node);
    const auto isTrained = [&](NodeId input) { return trained[static_cast<size_t>(input)]; };
    const bool before = std::ranges::any_of(node.inputs, isTrained);
    const bool here =
        node.operation->parameters != nullptr && !node.operation->parameters(node.attributes, shapes).empty();
    trained.push_back(before || here);
    const int passes = 1 + (before ? 2 : here ? 1 : 0);
    if (node.operation->flops != nullptr) flops += passes * node.operation->flops(node.attributes, shapes, node.shape);
  }
  return flops;
}

int64_t activationCount(const Graph& graph) {
  int64_t count = 0;
  for (const Node& node : graph.nodes()) count += node.shape.count();
  return count;
}

}  // namespace tandem
