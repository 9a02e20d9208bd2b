#include <array>

#include "base/text.h"
#include "models/families.h"
#include "models/layers.h"

namespace tandem {
namespace {

constexpr double lossWeight = 0.4;  // weight of the auxiliary head's loss

/// The differences between torchvision's network and Keras'.
struct Net {
  Graph graph;
  bool keras;

  NodeId conv(const std::string& name, NodeId from, const Attributes& shape) {
    return basicConv(graph, name, from, shape,
                     keras ? kerasNorm(0.001, /*scale=*/false) : Attributes{.epsilon = 0.001});
  }
  NodeId averaged(const std::string& name, NodeId from) {
    Attributes window = squarePool(3, 1, 1);
    window.countPadding = !keras;
    return graph.add("avg_pool", name, {from}, window);
  }
};

/// A convolution of a branch: kernel height and width. Its padding keeps the size unless it has a stride.
struct Part {
  std::string_view name;
  int64_t outputs, kernelH = 1, kernelW = 1, stride = 1;
};

Attributes attributesOf(const Part& part) {
  Attributes shape = squareConv(part.outputs, 1, part.stride, 0);
  shape.kernelH = part.kernelH;
  shape.kernelW = part.kernelW;
  const int64_t rows = part.stride == 1 ? part.kernelH / 2 : 0, columns = part.stride == 1 ? part.kernelW / 2 : 0;
  shape.padding = {rows, rows, columns, columns};
  return shape;
}

/// The modules of one name. Each branch starts at `from`.
class Mixed {
 public:
  Mixed(Net& net, std::string name, NodeId from) : net_(net), name_(std::move(name)), from_(from) {}

  NodeId chain(NodeId at, std::initializer_list<Part> parts) {
    for (const Part& part : parts) at = net_.conv(concat(name_, ".", part.name), at, attributesOf(part));
    return at;
  }
  Mixed& branch(std::initializer_list<Part> parts) { return add(chain(from_, parts)); }
  Mixed& pooledBranch(int64_t outputs) {
    return add(chain(net_.averaged(name_ + ".avgpool", from_), {{"branch_pool", outputs}}));
  }
  Mixed& reducedBranch() { return add(net_.graph.add("max_pool", name_ + ".maxpool", {from_}, squarePool(3, 2))); }
  /// A branch that ends in a 1x3 and a 3x1 side by side.
  Mixed& splitBranch(std::initializer_list<Part> parts, const std::string& end) {
    const NodeId at = chain(from_, parts);
    const NodeId wide = chain(at, {{end + "a", 384, 1, 3}}), high = chain(at, {{end + "b", 384, 3, 1}});
    return add(net_.graph.add("concat", concat(name_, ".", end), {wide, high}));
  }
  NodeId joined() { return net_.graph.add("concat", name_ + ".concat", branches_); }

 private:
  Mixed& add(NodeId branch) {
    branches_.push_back(branch);
    return *this;
  }

  Net& net_;
  std::string name_;
  NodeId from_;
  std::vector<NodeId> branches_;
};

NodeId moduleA(Net& net, const std::string& name, NodeId from, int64_t pooled) {
  return Mixed(net, name, from)
      .branch({{"branch1x1", 64}})
      .branch({{"branch5x5_1", 48}, {"branch5x5_2", 64, 5, 5}})
      .branch({{"branch3x3dbl_1", 64}, {"branch3x3dbl_2", 96, 3, 3}, {"branch3x3dbl_3", 96, 3, 3}})
      .pooledBranch(pooled)
      .joined();
}

NodeId moduleB(Net& net, const std::string& name, NodeId from) {
  return Mixed(net, name, from)
      .branch({{"branch3x3", 384, 3, 3, 2}})
      .branch({{"branch3x3dbl_1", 64}, {"branch3x3dbl_2", 96, 3, 3}, {"branch3x3dbl_3", 96, 3, 3, 2}})
      .reducedBranch()
      .joined();
}

NodeId moduleC(Net& net, const std::string& name, NodeId from, int64_t width) {
  return Mixed(net, name, from)
      .branch({{"branch1x1", 192}})
      .branch({{"branch7x7_1", width}, {"branch7x7_2", width, 1, 7}, {"branch7x7_3", 192, 7, 1}})
      .branch({{"branch7x7dbl_1", width},
               {"branch7x7dbl_2", width, 7, 1},
               {"branch7x7dbl_3", width, 1, 7},
               {"branch7x7dbl_4", width, 7, 1},
               {"branch7x7dbl_5", 192, 1, 7}})
      .pooledBranch(192)
      .joined();
}

NodeId moduleD(Net& net, const std::string& name, NodeId from) {
  return Mixed(net, name, from)
      .branch({{"branch3x3_1", 192}, {"branch3x3_2", 320, 3, 3, 2}})
      .branch({{"branch7x7x3_1", 192},
               {"branch7x7x3_2", 192, 1, 7},
               {"branch7x7x3_3", 192, 7, 1},
               {"branch7x7x3_4", 192, 3, 3, 2}})
      .reducedBranch()
      .joined();
}

NodeId moduleE(Net& net, const std::string& name, NodeId from) {
  return Mixed(net, name, from)
      .branch({{"branch1x1", 320}})
      .splitBranch({{"branch3x3_1", 384}}, "branch3x3_2")
      .splitBranch({{"branch3x3dbl_1", 448}, {"branch3x3dbl_2", 384, 3, 3}}, "branch3x3dbl_3")
      .pooledBranch(192)
      .joined();
}

void auxiliaryHead(Net& net, const std::string& name, NodeId from, int64_t classes) {
  Graph& graph = net.graph;
  NodeId at = graph.add("avg_pool", name + ".pool", {from}, squarePool(5, 3));
  at = net.conv(name + ".conv0", at, squareConv(128, 1, 1, 0));
  at = net.conv(name + ".conv1", at, squareConv(768, 5, 1, 0));
  at = graph.add("global_avg_pool", name + ".avgpool", {at});
  at = linear(graph, name + ".fc", graph.add("flatten", name + ".flatten", {at}), classes);
  graph.addAuxiliary(at, lossWeight);
}

NodeId stem(Net& net) {
  NodeId at = net.conv("Conv2d_1a_3x3", net.graph.input(), squareConv(32, 3, 2, 0));
  at = net.conv("Conv2d_2a_3x3", at, squareConv(32, 3, 1, 0));
  at = net.conv("Conv2d_2b_3x3", at, squareConv(64, 3, 1, 1));
  at = net.graph.add("max_pool", "maxpool1", {at}, squarePool(3, 2));
  at = net.conv("Conv2d_3b_1x1", at, squareConv(80, 1, 1, 0));
  at = net.conv("Conv2d_4a_3x3", at, squareConv(192, 3, 1, 0));
  return net.graph.add("max_pool", "maxpool2", {at}, squarePool(3, 2));
}

Graph build(Net net, const ModelOptions& options) {
  NodeId at = moduleA(net, "Mixed_5b", stem(net), 32);
  at = moduleA(net, "Mixed_5c", at, 64);
  at = moduleA(net, "Mixed_5d", at, 64);
  at = moduleB(net, "Mixed_6a", at);
  at = moduleC(net, "Mixed_6b", at, 128);
  at = moduleC(net, "Mixed_6c", at, 160);
  at = moduleC(net, "Mixed_6d", at, 160);
  at = moduleC(net, "Mixed_6e", at, 192);
  // Smaller images leave too few pixels for the head's convolutions.
  const ImageShape& left = net.graph.node(at).shape;
  if (!net.keras && left.height >= 17 && left.width >= 17) auxiliaryHead(net, "AuxLogits", at, options.classes);
  at = moduleD(net, "Mixed_7a", at);
  at = moduleE(net, "Mixed_7b", at);
  at = moduleE(net, "Mixed_7c", at);
  at = net.graph.add("global_avg_pool", "avgpool", {at});
  if (!net.keras) at = dropout(net.graph, "dropout", at, options);
  linear(net.graph, "fc", net.graph.add("flatten", "flatten", {at}), options.classes);
  return std::move(net.graph);
}

}  // namespace

Graph buildInceptionV3(const ModelEntry& entry, const ModelOptions& options) {
  return build({startGraph(entry, options), /*keras=*/false}, options);
}

Graph buildKerasInceptionV3(const ModelEntry& entry, const ModelOptions& options) {
  return build({startGraph(entry, options), /*keras=*/true}, options);
}

}  // namespace tandem
