#include <array>

#include "base/catalog.h"
#include "models/families.h"
#include "models/layers.h"

namespace tandem {
namespace {

struct Variant {
  std::string_view name;
  int cells;        // cells of a stage
  int64_t filters;  // of the first stage's convolutions; the last stage has 24 times as many outputs
  int64_t stem;     // outputs of the first convolution
  // The first cell of a stage also reads the value two cells before the reduction, not one before.
  bool passesReduction;
};

constexpr std::array variants{Variant{"nasnet_mobile", 4, 44, 32, false}, Variant{"nasnet_large", 6, 168, 96, true}};

constexpr Attributes norm{.epsilon = 0.001};

Attributes averageOf3() {
  Attributes window = squarePool(3, 1, 1);
  window.countPadding = false;
  return window;
}

/// A cell and its layers, NAME.LAYER. All convolutions have `filters` outputs.
class Cell {
 public:
  Cell(Graph& graph, std::string name, int64_t filters) : graph_(graph), name_(std::move(name)), filters_(filters) {}

  NodeId normal(NodeId previous, NodeId from) {
    const NodeId p = adjusted(previous, from), h = actConvNorm("conv_1x1", from);
    const NodeId sum0 = sum(0, separable("comb_iter_0_left", h, 5, 1), separable("comb_iter_0_right", p, 3, 1));
    const NodeId sum1 = sum(1, separable("comb_iter_1_left", p, 5, 1), separable("comb_iter_1_right", p, 3, 1));
    const NodeId sum2 = sum(2, averaged("comb_iter_2_left", h), p);
    const NodeId sum3 = sum(3, averaged("comb_iter_3_left", p), averaged("comb_iter_3_right", p));
    const NodeId sum4 = sum(4, separable("comb_iter_4_left", h, 3, 1), h);
    return layer("concat", "concat", {p, sum0, sum1, sum2, sum3, sum4});
  }

  NodeId reduction(NodeId previous, NodeId from) { return reductionOf(adjusted(previous, from), from); }

  /// The first cell has no cell before it, so both inputs are the same.
  NodeId firstReduction(NodeId from) { return reductionOf(from, from); }

 private:
  NodeId reductionOf(NodeId p, NodeId from) {
    const NodeId h = actConvNorm("conv_1x1", from);
    const NodeId sum0 = sum(0, separable("comb_iter_0_left", h, 5, 2), separable("comb_iter_0_right", p, 7, 2));
    const NodeId sum1 = sum(1, maxHalved("comb_iter_1_left", h), separable("comb_iter_1_right", p, 7, 2));
    const NodeId sum2 = sum(2, meanHalved("comb_iter_2_left", h), separable("comb_iter_2_right", p, 5, 2));
    const NodeId sum3 = sum(3, averaged("comb_iter_3_right", sum0), sum1);
    const NodeId sum4 = sum(4, separable("comb_iter_4_left", sum0, 3, 1), maxHalved("comb_iter_4_right", h));
    return layer("concat", "concat", {sum1, sum2, sum3, sum4});
  }

  NodeId layer(std::string_view operation, const std::string& name, std::vector<NodeId> from,
               const Attributes& attributes = {}) {
    return graph_.add(operation, concat(name_, ".", name), std::move(from), attributes);
  }
  const ImageShape& shapeOf(NodeId value) const { return graph_.node(value).shape; }

  NodeId sum(int index, NodeId left, NodeId right) {
    return layer("add", concat("comb_iter_", index, "_add"), {left, right});
  }

  NodeId actConvNorm(const std::string& name, NodeId from) {
    const NodeId conv =
        layer("conv", name + ".conv", {layer("relu", name + ".act", {from})}, squareConv(filters_, 1, 1, 0));
    return layer("batch_norm", name + ".bn", {conv}, norm);
  }

  /// Twice: ReLU, depthwise convolution, pointwise convolution and batch-norm.
  NodeId separable(const std::string& name, NodeId from, int64_t kernel, int64_t stride) {
    for (const char* number : {"1", "2"}) {
      const NodeId active = layer("relu", concat(name, ".act_", number), {from});
      const std::string conv = concat(name, ".separable_", number);
      Attributes depthwise = sameConv(shapeOf(from), shapeOf(from).channels, kernel, stride);
      depthwise.groups = depthwise.outputs;
      const NodeId each = layer("conv", conv + ".depthwise_conv2d", {active}, depthwise);
      const NodeId all = layer("conv", conv + ".pointwise_conv2d", {each}, squareConv(filters_, 1, 1, 0));
      from = layer("batch_norm", concat(name, ".bn_sep_", number), {all}, norm);
      stride = 1;
    }
    return from;
  }

  NodeId averaged(const std::string& name, NodeId from) { return layer("avg_pool", name, {from}, averageOf3()); }
  NodeId maxHalved(const std::string& name, NodeId from) {
    return layer("max_pool", name, {from}, samePool(shapeOf(from)));
  }
  /// The mean counts padding, as in timm.
  NodeId meanHalved(const std::string& name, NodeId from) {
    const NodeId padded = layer("pad", name + ".pad", {from}, {.padding = samePadding(shapeOf(from), 3, 2)});
    return layer("avg_pool", name, {padded}, squarePool(3, 2));
  }

  /// `previous` with this cell's filters and the size of `from`.
  NodeId adjusted(NodeId previous, NodeId from) {
    return shapeOf(previous).height == shapeOf(from).height ? actConvNorm("conv_prev_1x1", previous) : halved(previous);
  }

  /// Half of the filters see every other pixel, the other half see the pixels between them.
  NodeId halved(NodeId from) {
    const NodeId active = layer("relu", "act", {from});
    const NodeId shifted = layer("pad", "path_2.pad", {active}, {.padding = {-1, 1, -1, 1}});
    const NodeId joined = layer("concat", "final_path", {path("path_1", active), path("path_2", shifted)});
    return layer("batch_norm", "final_path_bn", {joined}, norm);
  }
  NodeId path(const std::string& name, NodeId from) {
    const NodeId some = layer("subsample", name + ".avgpool", {from}, {.strideH = 2, .strideW = 2});
    return layer("conv", name + ".conv", {some}, squareConv(filters_ / 2, 1, 1, 0));
  }

  Graph& graph_;
  std::string name_;
  int64_t filters_;
};

/// The cells after the stem. `at` is the newest of the three values that later cells read.
struct Values {
  NodeId older, before, at;
  void push(NodeId next) { older = before, before = at, at = next; }
};

Values stem(Graph& graph, const Variant& variant) {
  const NodeId conv =
      convNorm(graph, {"conv0.conv", "conv0.bn"}, graph.input(), squareConv(variant.stem, 3, 2, 0), norm);
  const NodeId first = Cell(graph, "cell_stem_0", variant.filters / 4).firstReduction(conv);
  return {conv, first, Cell(graph, "cell_stem_1", variant.filters / 2).reduction(conv, first)};
}

}  // namespace

Graph buildNasnet(const ModelEntry& entry, const ModelOptions& options) {
  const Variant& variant = find(std::span<const Variant>(variants), entry.name, "NASNet");
  Graph graph = startGraph(entry, options);
  Values values = stem(graph, variant);
  for (int stage = 0, number = 0; stage < 3; ++stage) {
    const int64_t filters = variant.filters << stage;
    if (stage > 0) {
      Cell cell(graph, concat("reduction_cell_", stage - 1), filters);
      values.push(cell.reduction(values.before, values.at));
    }
    for (int index = 0; index < variant.cells; ++index) {
      const bool afterReduction = stage > 0 && index == 0;
      const NodeId previous = afterReduction && variant.passesReduction ? values.older : values.before;
      values.push(Cell(graph, concat("cell_", number++), filters).normal(previous, values.at));
    }
  }
  const NodeId pooled = graph.add("global_avg_pool", "global_pool", {relu(graph, "act", values.at)});
  const NodeId flat = graph.add("flatten", "flatten", {pooled});
  linear(graph, "last_linear", dropout(graph, "head_drop", flat, options), options.classes);
  return graph;
}

}  // namespace tandem
