#include "graph/network.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "base/catalog.h"
#include "base/utf8.h"
#include "formats/io/checksum.h"
#include "formats/io/file.h"
#include "graph/attribute.h"
#include "graph/operation.h"

namespace tandem {
namespace {

constexpr std::string_view classesWord = "classes", outputsName = "outputs";

std::string attributeNames(const Operation& operation) {
  std::vector<std::string> names;
  for (const AttributeEntry* entry : attributesOf(operation)) names.emplace_back(entry->name);
  return names.empty() ? "it has none" : "it has " + join(names);
}

const AttributeEntry& entryNamed(const Operation& operation, std::string_view name) {
  for (const AttributeEntry* entry : attributesOf(operation)) {
    if (entry->name == name) return *entry;
  }
  throw UsageError(
      concat("there is no attribute '", escaped(name), "' of ", operation.name, "; ", attributeNames(operation)));
}

void setWhole(const AttributeEntry& entry, const NetworkValue& value, Attributes& attributes) {
  const auto places = entry.whole(attributes);
  const auto* numbers = std::get_if<std::vector<double>>(&value);
  const bool isWhole = numbers != nullptr && std::ranges::all_of(*numbers, [](double n) { return n == std::floor(n); });
  if (!isWhole || (numbers->size() != 1 && numbers->size() != places.size())) {
    const std::string several = places.size() > 1 ? concat(", or a list of ", places.size()) : "";
    throw UsageError(concat("attribute '", entry.name, "' must be a whole number", several));
  }
  for (size_t i = 0; i < places.size(); ++i) {
    *places[i] = static_cast<int64_t>((*numbers)[numbers->size() == 1 ? 0 : i]);
  }
}

void setAttribute(const AttributeEntry& entry, const NetworkValue& value, Attributes& attributes) {
  if (entry.whole != nullptr) return setWhole(entry, value, attributes);
  if (entry.flag != nullptr) {
    const bool* const flag = std::get_if<bool>(&value);
    if (flag == nullptr) throw UsageError(concat("attribute '", entry.name, "' must be true or false"));
    attributes.*entry.flag = *flag;
    return;
  }
  const auto* numbers = std::get_if<std::vector<double>>(&value);
  const bool isOne = numbers != nullptr && numbers->size() == 1;
  if (!isOne) throw UsageError(concat("attribute '", entry.name, "' must be a number"));
  attributes.*entry.number = numbers->front();
}

bool isClasses(std::string_view name, const NetworkValue& value) {
  const auto* text = std::get_if<std::string>(&value);
  return name == outputsName && text != nullptr && *text == classesWord;
}

Attributes attributesIn(const NetworkNode& node, const Operation& operation, int64_t classes) {
  Attributes attributes;
  for (const auto& [name, value] : node.attributes) {
    const AttributeEntry& entry = entryNamed(operation, name);
    if (isClasses(name, value)) {
      attributes.outputs = classes;
    } else {
      setAttribute(entry, value, attributes);
    }
  }
  return attributes;
}

/// Builds a graph node by node and remembers the names.
class Builder {
 public:
  Builder(const NetworkFile& file, int64_t classes, int64_t imageSize)
      : file_(file), classes_(classes), graph_({file.input[0], imageSize, imageSize}) {
    ids_.emplace(graph_.node(graph_.input()).name, graph_.input());
  }

  Graph build() {
    for (const NetworkNode& node : file_.nodes) add(node);
    graph_.setLoss(find(taskLosses(), escaped(file_.loss), "loss"));
    for (const NetworkAuxiliary& auxiliary : file_.auxiliaries) addAuxiliary(auxiliary);
    checkAllRead();
    checkOutputs();
    if (graph_.parameters().empty()) throw UsageError("the network has no trained parameter");
    return std::move(graph_);
  }

 private:
  void add(const NetworkNode& node) {
    try {
      const Operation& operation = find(operations(), escaped(node.operation), "operation");
      std::vector<NodeId> inputs;
      for (const std::string& input : node.inputs) inputs.push_back(idOf(input));
      const NodeId id = graph_.add(operation.name, node.name, inputs, attributesIn(node, operation, classes_));
      ids_.emplace(node.name, id);
      read_.insert(read_.end(), inputs.begin(), inputs.end());
    } catch (const UsageError& broken) {
      const std::string_view text = broken.what();
      const std::string name = concat("node '", node.name, "'");
      throw UsageError(text.starts_with(name) ? std::string(text) : concat(name, ": ", text));
    }
  }

  NodeId idOf(const std::string& name) const {
    const auto known = ids_.find(name);
    if (known != ids_.end()) return known->second;
    const bool later = std::ranges::find(file_.nodes, name, &NetworkNode::name) != file_.nodes.end();
    throw UsageError(concat("input '", escaped(name), "' ",
                            later ? "does not stand before it; a node stands after its inputs, and nodes form no cycle"
                                  : "is no node of the file"));
  }

  void addAuxiliary(const NetworkAuxiliary& auxiliary) {
    const auto known = ids_.find(auxiliary.value);
    const std::string name = escaped(auxiliary.value);
    if (known == ids_.end()) throw UsageError(concat("auxiliary value '", name, "' is no node of the file"));
    if (known->second == graph_.output()) throw UsageError(concat("auxiliary value '", name, "' is the output"));
    const auto same = [&](const Auxiliary& other) { return other.value == known->second; };
    if (std::ranges::any_of(graph_.auxiliaries(), same))
      throw UsageError(concat("auxiliary value '", name, "' stands twice"));
    graph_.addAuxiliary(known->second, auxiliary.lossWeight);
    read_.push_back(known->second);
  }

  void checkAllRead() const {
    std::vector<bool> read(graph_.nodes().size());
    for (const NodeId id : read_) read[static_cast<size_t>(id)] = true;
    read[static_cast<size_t>(graph_.output())] = true;
    const auto unread = std::ranges::find(read, false);
    if (unread == read.end()) return;
    const Node& node = graph_.nodes()[static_cast<size_t>(unread - read.begin())];
    throw UsageError(concat("node '", node.name, "' is read by no other; only the last node is the output"));
  }

  void checkOutputs() const {
    if (graph_.loss().head.empty()) return;
    for (const NodeId id : graph_.outputs()) {
      const Node& node = graph_.node(id);
      if (node.shape == ImageShape{classes_, 1, 1}) continue;
      throw UsageError(concat("node '", node.name, "' of shape ", shapeText(node.shape), " is an output; with ",
                              classes_, " classes it must be [", classes_, ", 1, 1] for ", graph_.loss().name));
    }
  }

  const NetworkFile& file_;
  const int64_t classes_;
  Graph graph_;
  std::map<std::string, NodeId> ids_;
  std::vector<NodeId> read_;
};

bool namesClasses(const NetworkFile& file) {
  return std::ranges::any_of(file.nodes, [](const NetworkNode& node) {
    return std::ranges::any_of(node.attributes, [](const auto& one) { return isClasses(one.first, one.second); });
  });
}

std::vector<double> numbersOf(const std::vector<int64_t*>& places) {
  const auto same = [&](const int64_t* place) { return *place == *places.front(); };
  std::vector<double> numbers;
  for (const int64_t* place : places) numbers.push_back(static_cast<double>(*place));
  if (std::ranges::all_of(places, same)) numbers.resize(1);
  return numbers;
}

/// Writes the attributes that the operation reads and that differ from Attributes{}.
void describeAttributes(const Node& node, bool isClassifier, NetworkNode& out) {
  Attributes given = node.attributes, standard;
  for (const AttributeEntry* entry : attributesOf(*node.operation)) {
    const std::string name(entry->name);
    if (entry->whole != nullptr) {
      const auto numbers = numbersOf(entry->whole(given));
      const bool classes = isClassifier && name == outputsName;
      if (classes) out.attributes.emplace_back(name, std::string(classesWord));
      if (!classes && numbers != numbersOf(entry->whole(standard))) out.attributes.emplace_back(name, numbers);
    } else if (entry->flag != nullptr) {
      const bool value = given.*entry->flag;
      if (value != standard.*entry->flag) out.attributes.emplace_back(name, value);
    } else {
      const double value = given.*entry->number;
      if (value != standard.*entry->number) out.attributes.emplace_back(name, std::vector{value});
    }
  }
}

/// False if a class adds several outputs, which a file cannot express.
bool saysClasses(const Graph& graph, const Graph& wider) {
  const auto grows = [](const Node& node, const Node& other) {
    const int64_t by = other.attributes.outputs - node.attributes.outputs;
    return by == 0 || by == 1;
  };
  return std::ranges::equal(graph.nodes(), wider.nodes(), grows);
}

}  // namespace

Network networkOf(std::span<const uint8_t> bytes, const std::string& path) {
  const auto result = parseNetwork(bytes);
  if (!result) {
    const ParseError& error = result.error();
    throw DataError(concat(path, ": ", error.offset > 0 ? concat("byte ", error.offset, ": ") : "", error.text));
  }
  const NetworkFile& file = result.value();
  try {
    if (file.input[0] != 3 || file.input[1] != file.input[2]) {
      throw UsageError(concat("input ", shapeText({file.input[0], file.input[1], file.input[2]}),
                              ": images have three channels and are square"));
    }
    buildNetwork(file, file.classes, file.input[1]);
  } catch (const UsageError& broken) {
    throw DataError(concat(path, ": ", broken.what()));
  }
  return {file, sha256Of(bytes)};
}

Network openNetwork(const std::string& path) { return networkOf(readFile(path, NetworkLimits().bytes), path); }

Graph buildNetwork(const NetworkFile& file, int64_t classes, int64_t imageSize) {
  if (classes != file.classes && !namesClasses(file)) {
    throw UsageError(concat("classes ", classes, ": the file fixes ", file.classes,
                            R"(; in it write "outputs": "classes" where the classes are meant)"));
  }
  return Builder(file, classes, imageSize).build();
}

NetworkFile describeGraph(const Graph& graph, const Graph& wider) {
  NetworkFile file;
  const ImageShape input = graph.node(graph.input()).shape;
  file.input = {input.channels, input.height, input.width};
  file.loss = graph.loss().name;
  const bool comparable = saysClasses(graph, wider);
  for (size_t i = 1; i < graph.nodes().size(); ++i) {
    const Node& node = graph.nodes()[i];
    NetworkNode out{.name = node.name, .operation = std::string(node.operation->name), .inputs = {}, .attributes = {}};
    for (const NodeId input : node.inputs) out.inputs.push_back(graph.node(input).name);
    const bool isClassifier = comparable && wider.nodes()[i].attributes.outputs == node.attributes.outputs + 1;
    describeAttributes(node, isClassifier, out);
    file.nodes.push_back(std::move(out));
  }
  for (const Auxiliary& auxiliary : graph.auxiliaries()) {
    file.auxiliaries.push_back({graph.node(auxiliary.value).name, auxiliary.lossWeight});
  }
  return file;
}

}  // namespace tandem
