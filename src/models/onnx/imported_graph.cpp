#include "models/onnx/imported_graph.h"

#include <algorithm>
#include <map>
#include <set>

#include "base/catalog.h"
#include "base/error.h"
#include "base/text.h"
#include "formats/network/network_file.h"
#include "graph/operation.h"

namespace tandem::onnx {
namespace {

constexpr size_t mostNodes = 40'000;  // with those that the output does not need
constexpr size_t longestName = 150;
constexpr int64_t longestExtent = int64_t{1} << 24;
constexpr double mostValues = 0x1p38;  // as Graph::add()

/// Keeps the arithmetic on shapes far from overflow.
ImageShape bounded(const ImageShape& shape) {
  const double values =
      static_cast<double>(shape.channels) * static_cast<double>(shape.height) * static_cast<double>(shape.width);
  if (std::max({shape.channels, shape.height, shape.width}) <= longestExtent && values <= mostValues) return shape;
  throw UsageError(
      concat("its output has the shape ", shapeText(shape), "; an extent is at most 2^24, all values 2^38"));
}

/// A name for a node as network files allow it: printable ASCII without blanks and slashes.
std::string cleaned(std::string_view name) {
  std::string clean;
  for (const char c : name) clean += c > ' ' && c <= '~' && c != '/' && c != '\\' ? c : '_';
  if (clean.size() > longestName) clean.resize(longestName);
  return clean;
}

/// Names that are given, and the number that was tried last behind a name.
struct Taken {
  std::set<std::string> nodes, parameters;
  std::map<std::string, int> numbers;
};

/// Gives a node the name, unless the node or one of its parameters would be called as another one.
bool take(Taken& taken, const ImportedNode& node, const std::string& name) {
  const auto isTaken = [&](const ImportedWeight& weight) { return taken.parameters.contains(name + weight.suffix); };
  if (taken.nodes.contains(name) || std::ranges::any_of(node.weights, isTaken)) return false;
  taken.nodes.insert(name);
  for (const ImportedWeight& weight : node.weights) taken.parameters.insert(name + weight.suffix);
  return true;
}

std::string nameOf(const ImportedNode& node, Taken& taken) {
  std::string last(node.operation->name);
  if (node.names.empty() && take(taken, node, last)) return last;
  for (const std::string& candidate : node.names) {
    const std::string name = cleaned(candidate);
    if (name.empty()) continue;
    last = name;
    if (take(taken, node, name)) return name;
  }
  for (int& count = taken.numbers[last];;) {
    const std::string name = concat(last, '_', ++count);
    if (take(taken, node, name)) return name;
  }
}

}  // namespace

ImportedGraph::ImportedGraph(const ImageShape& input) {
  ImportedNode node;
  node.operation = &find(operations(), "input", "operation");
  node.shape = input;
  nodes_.push_back(std::move(node));
}

int ImportedGraph::add(NewNode node) {
  const Operation& operation = find(operations(), node.operation, "operation");
  std::vector<ImageShape> shapes;
  for (const int input : node.inputs) shapes.push_back(at(input).shape);
  ImportedNode added{.operation = &operation,
                     .part = {},
                     .inputs = std::move(node.inputs),
                     .attributes = node.attributes,
                     .shape = bounded(operation.shape(node.attributes, shapes)),
                     .names = std::move(node.names),
                     .weights = std::move(node.weights),
                     .origin = origin_};
  return append(std::move(added));
}

int ImportedGraph::addPart(std::string_view part, int input) {
  ImportedNode added;
  added.part = part;
  added.inputs = {input};
  added.shape = at(input).shape;
  added.origin = origin_;
  return append(std::move(added));
}

int ImportedGraph::append(ImportedNode node) {
  if (nodes_.size() > mostNodes) throw UsageError(concat("the operators become more than ", mostNodes, " nodes"));
  for (std::string& name : node.names) name = cleaned(name);  // short, as many nodes may have the names of one operator
  nodes_.push_back(std::move(node));
  return static_cast<int>(nodes_.size()) - 1;
}

int ImportedGraph::classifierOf(int output) const {
  for (int index = output; index != 0; index = at(index).inputs.front()) {
    const ImportedNode& node = at(index);
    if (node.operation == nullptr || node.operation->parameters == nullptr) continue;
    const bool counts = std::string_view(node.operation->reads).find("outputs") != std::string_view::npos;
    if (counts && node.attributes.outputs == at(output).shape.channels) return index;
    break;
  }
  throw UsageError("the last layer with weights is neither a convolution nor a linear layer that makes the classes");
}

ImportedGraph::Finished ImportedGraph::finish(int output, int64_t more) const {
  std::vector<bool> needed(nodes_.size(), false);
  needed[static_cast<size_t>(output)] = true;
  for (size_t index = nodes_.size(); index-- > 0;) {
    if (!needed[index]) continue;
    for (const int input : nodes_[index].inputs) needed[static_cast<size_t>(input)] = true;
  }
  const auto count = static_cast<size_t>(std::count(needed.begin() + 1, needed.end(), true));
  if (const size_t most = NetworkLimits().nodes; count > most) {
    throw UsageError(concat("the model becomes ", count, " nodes; a network has at most ", most));
  }
  const int classifier = classifierOf(output);
  Finished result{Graph(nodes_.front().shape), {}};
  Taken taken{{result.graph.node(result.graph.input()).name}, {}, {}};
  std::vector<NodeId> idOf(nodes_.size(), result.graph.input());
  for (size_t index = 1; index < nodes_.size(); ++index) {
    const ImportedNode& node = nodes_[index];
    if (!needed[index]) continue;
    if (node.operation == nullptr) {
      throw UsageError(concat(node.origin, ": there is no operation for ", node.part,
                              " alone; it is known as a part of ", "patterns"));
    }
    std::vector<NodeId> inputs;
    for (const int input : node.inputs) inputs.push_back(idOf[static_cast<size_t>(input)]);
    Attributes attributes = node.attributes;
    if (static_cast<int>(index) == classifier) attributes.outputs += more;
    const std::string name = nameOf(node, taken);
    idOf[index] = result.graph.add(node.operation->name, name, std::move(inputs), attributes);
    for (const ImportedWeight& weight : node.weights) result.weights.emplace_back(name + weight.suffix, weight.tensor);
  }
  return result;
}

}  // namespace tandem::onnx
