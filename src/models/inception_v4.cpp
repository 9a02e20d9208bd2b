#include "base/text.h"
#include "models/families.h"
#include "models/layers.h"

namespace tandem {
namespace {

/// A convolution of a branch: kernel height and width. Padding keeps the size if `same` is set and the stride is 1;
/// otherwise there is none.
struct Part {
  int64_t outputs, kernelH = 1, kernelW = 1, stride = 1;
  bool same = true;
};

Attributes attributesOf(const Part& part) {
  Attributes shape = squareConv(part.outputs, 1, part.stride, 0);
  shape.kernelH = part.kernelH;
  shape.kernelW = part.kernelW;
  if (!part.same || part.stride > 1) return shape;
  shape.padding = {part.kernelH / 2, part.kernelH / 2, part.kernelW / 2, part.kernelW / 2};
  return shape;
}

/// One module of the sequence. Each branch starts at `from`.
class Module {
 public:
  Module(Graph& graph, int number, NodeId from) : graph_(graph), name_(concat("features.", number)), from_(from) {}

  Module& conv(const std::string& name, const Part& part) { return add(apply(name, from_, part)); }
  Module& branch(const std::string& name, std::initializer_list<Part> parts) { return add(chain(name, from_, parts)); }
  Module& pooledBranch(int64_t outputs) {
    Attributes window = squarePool(3, 1, 1);
    window.countPadding = false;
    const NodeId pooled = graph_.add("avg_pool", name_ + ".branch3.0", {from_}, window);
    return add(apply("branch3.1", pooled, {outputs}));
  }
  Module& maxPool(const std::string& name) {
    return add(graph_.add("max_pool", concat(name_, ".", name), {from_}, squarePool(3, 2)));
  }
  /// A branch, NAME_0 and so on, that ends in a 1x3 and a 3x1 side by side.
  Module& splitBranch(const std::string& name, std::initializer_list<Part> parts) {
    NodeId at = from_;
    int index = 0;
    for (const Part& part : parts) at = apply(concat(name, "_", index++), at, part);
    add(apply(concat(name, "_", index, "a"), at, {256, 1, 3}));
    return add(apply(concat(name, "_", index, "b"), at, {256, 3, 1}));
  }
  NodeId joined() { return graph_.add("concat", name_ + ".concat", branches_); }

 private:
  NodeId apply(const std::string& name, NodeId at, const Part& part) {
    return basicConv(graph_, concat(name_, ".", name), at, attributesOf(part));
  }
  NodeId chain(const std::string& name, NodeId at, std::initializer_list<Part> parts) {
    int index = 0;
    for (const Part& part : parts) at = apply(concat(name, ".", index++), at, part);
    return at;
  }
  Module& add(NodeId branch) {
    branches_.push_back(branch);
    return *this;
  }

  Graph& graph_;
  std::string name_;
  NodeId from_;
  std::vector<NodeId> branches_;
};

NodeId stem(Graph& graph) {
  NodeId at = basicConv(graph, "features.0", graph.input(), squareConv(32, 3, 2, 0));
  at = basicConv(graph, "features.1", at, squareConv(32, 3, 1, 0));
  at = basicConv(graph, "features.2", at, squareConv(64, 3, 1, 1));
  at = Module(graph, 3, at).maxPool("maxpool").conv("conv", {96, 3, 3, 2}).joined();
  at = Module(graph, 4, at)
           .branch("branch0", {{64}, {96, 3, 3, 1, false}})
           .branch("branch1", {{64}, {64, 1, 7}, {64, 7, 1}, {96, 3, 3, 1, false}})
           .joined();
  return Module(graph, 5, at).conv("conv", {192, 3, 3, 2}).maxPool("maxpool").joined();
}

NodeId moduleA(Graph& graph, int number, NodeId from) {
  return Module(graph, number, from)
      .conv("branch0", {96})
      .branch("branch1", {{64}, {96, 3, 3}})
      .branch("branch2", {{64}, {96, 3, 3}, {96, 3, 3}})
      .pooledBranch(96)
      .joined();
}

NodeId reductionA(Graph& graph, int number, NodeId from) {
  return Module(graph, number, from)
      .conv("branch0", {384, 3, 3, 2})
      .branch("branch1", {{192}, {224, 3, 3}, {256, 3, 3, 2}})
      .maxPool("branch2")
      .joined();
}

NodeId moduleB(Graph& graph, int number, NodeId from) {
  return Module(graph, number, from)
      .conv("branch0", {384})
      .branch("branch1", {{192}, {224, 1, 7}, {256, 7, 1}})
      .branch("branch2", {{192}, {192, 7, 1}, {224, 1, 7}, {224, 7, 1}, {256, 1, 7}})
      .pooledBranch(128)
      .joined();
}

NodeId reductionB(Graph& graph, int number, NodeId from) {
  return Module(graph, number, from)
      .branch("branch0", {{192}, {192, 3, 3, 2}})
      .branch("branch1", {{256}, {256, 1, 7}, {320, 7, 1}, {320, 3, 3, 2}})
      .maxPool("branch2")
      .joined();
}

NodeId moduleC(Graph& graph, int number, NodeId from) {
  return Module(graph, number, from)
      .conv("branch0", {256})
      .splitBranch("branch1", {{384}})
      .splitBranch("branch2", {{384}, {448, 3, 1}, {512, 1, 3}})
      .pooledBranch(256)
      .joined();
}

}  // namespace

Graph buildInceptionV4(const ModelEntry& entry, const ModelOptions& options) {
  Graph graph = startGraph(entry, options);
  NodeId at = stem(graph);
  int number = 6;
  while (number < 10) at = moduleA(graph, number++, at);
  at = reductionA(graph, number++, at);
  while (number < 18) at = moduleB(graph, number++, at);
  at = reductionB(graph, number++, at);
  while (number < 22) at = moduleC(graph, number++, at);
  at = graph.add("flatten", "flatten", {graph.add("global_avg_pool", "global_pool", {at})});
  linear(graph, "last_linear", dropout(graph, "head_drop", at, options, 0.2), options.classes);
  return graph;
}

}  // namespace tandem
