#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <optional>

#include "base/error.h"
#include "base/text.h"
#include "graph/operation.h"
#include "models/onnx/arithmetic.h"
#include "models/onnx/gelu.h"
#include "models/onnx/importer.h"
#include "models/onnx/layer_norm.h"

/// Operators on each element: activations, sums and products.
namespace tandem::onnx {
namespace {

void activate(Call& call, std::string_view operation) {
  View made = call.in.whole(call.view(0));
  made.node = call.add({.operation = operation, .inputs = {made.node}});
  call.give(std::move(made));
}

void relu(Call& call) { activate(call, "relu"); }
void sigmoid(Call& call) { activate(call, "sigmoid"); }
void tanh(Call& call) {
  if (auto made = tanhOf(call, call.view(0))) return call.give(std::move(*made));
  activate(call, "tanh");
}
void hardSwish(Call& call) { activate(call, "hard_swish"); }

void hardSigmoid(Call& call) {
  if (!near(call.number("alpha", 0.2), 1.0 / 6) || !near(call.number("beta", 0.5), 0.5)) {
    throw UsageError("alpha must be 1/6, beta 0.5, as in PyTorch");
  }
  activate(call, "hard_sigmoid");
}

/// A limit of Clip; empty where it is left away or infinite.
std::optional<double> limitOf(const Call& call, size_t input) {
  if (!call.has(input)) return std::nullopt;
  const double limit = numberOf(call.constant(input));
  if (std::abs(limit) >= static_cast<double>(std::numeric_limits<float>::max())) return std::nullopt;
  return limit;
}

void clip(Call& call) {
  const auto low = limitOf(call, 1), high = limitOf(call, 2);
  if (low != 0.0 || (high && *high != 6)) throw UsageError("its limits must be 0 and 6, or 0 alone");
  View view = call.view(0);
  if (high && view.factor == 1 && view.offset == 3) {  // min(max(x + 3, 0), 6) = 6 * hard_sigmoid(x)
    view.offset = 0;
    view = call.in.whole(view);
    view.node = call.add({.operation = "hard_sigmoid", .inputs = {view.node}});
    return call.give(scaled(view, 6, 0));
  }
  activate(call, high ? "relu6" : "relu");
}

/// A part of a pattern with the operator's name.
void part(Call& call) {
  View view = call.view(0);
  View made = call.in.whole(view);
  made.node = call.in.graph.addPart(call.node().operation, made.node);
  call.give(std::move(made));
}

void softmax(Call& call) {
  if (const auto* const scores = std::get_if<Scores>(&call.item(0))) {
    const auto rank = static_cast<int64_t>(scores->query.dims.size());
    const int64_t axis = call.whole("axis", -1);
    if (axis != -1 && axis != rank - 1) throw UsageError("softmax of attention over another dimension than the last");
    if (scores->isSoftmax) throw UsageError("a softmax of the weights of attention, which already are one");
    Scores made = *scores;
    made.isSoftmax = true;
    return call.give(std::move(made));
  }
  part(call);
}

/// x * sigmoid(x), x * hard_sigmoid(x) or x * (1 + what GELU adds), with factors; empty for another product.
std::optional<View> gatedByItself(Call& call, const View& x, const View& gate) {
  struct Row {
    std::string_view gate, product;
    double factor;  // of the product
    bool plusOne;
  };
  constexpr std::array rows{Row{"sigmoid", "silu", 1, false}, Row{"hard_sigmoid", "hard_swish", 1, false},
                            Row{erfOfGelu, "gelu", 2, true}, Row{tanhOfGelu, "gelu_tanh", 2, true}};
  if (x.offset != 0) return std::nullopt;
  View plain = x;
  plain.factor = 1;
  for (const Row& row : rows) {
    if (operationOf(call.in, gate.node) != row.gate) continue;
    plain = call.in.whole(plain);
    if (!isMadeOf(call.in, gate, row.gate, plain)) continue;
    if (!near(gate.offset, row.plusOne ? gate.factor : 0)) continue;
    View made = plain;
    made.node = call.add({.operation = row.product, .inputs = {made.node}});
    made.factor = row.factor * x.factor * gate.factor;
    if (near(made.factor, 1)) made.factor = 1;
    return made;
  }
  return std::nullopt;
}

/// Whether `dims` says one number for each channel of `all`.
bool isGate(const Dims& dims, const ImageShape& shape, const Dims& all) {
  if (shape.count() != shape.channels || dims.size() != all.size()) return false;
  for (size_t d = 0; d < dims.size(); ++d) {
    if (!dims[d].empty() && dims[d] != all[d]) return false;
  }
  return atomsOf(dims, Axis::channel) == atomsOf(all, Axis::channel);
}

void product(Call& call, const View& a, const View& b) {
  if (a == b) return squared(call);
  for (const auto& [x, gate] : {std::pair(a, b), std::pair(b, a)}) {
    if (auto made = gatedByItself(call, x, gate)) return call.give(std::move(*made));
    if (auto made = cubeOf(call, x, gate)) return call.give(std::move(*made));
  }
  for (const auto& [x, gate] : {std::pair(a, b), std::pair(b, a)}) {
    const View wholeX = call.in.whole(x), wholeGate = call.in.whole(gate);
    if (!isGate(wholeGate.dims, call.in.shapeOf(wholeGate), wholeX.dims)) continue;
    View made = wholeX;
    made.node = call.add({.operation = "multiply", .inputs = {wholeX.node, wholeGate.node}});
    return call.give(std::move(made));
  }
  throw UsageError("a product of two tensors, of which none has one number for each channel");
}

/// The dimensions of `all` along which a constant varies, counted from the front. Throws UsageError if it has more.
std::vector<size_t> varying(const Constant& constant, const Dims& all) {
  const auto& shape = constant.tensor.shape;
  std::vector<size_t> dims;
  for (size_t d = 0; d < shape.size(); ++d) {
    if (shape[d] == 1) continue;
    if (shape.size() - d > all.size()) throw UsageError("its constant has more dimensions than its other input");
    dims.push_back(d + all.size() - shape.size());
  }
  return dims;
}

bool isPerChannel(const Importer& in, const View& view, const std::vector<size_t>& dims) {
  const int64_t channels = in.shapeOf(view).channels;
  if (channels == 1) return dims.empty();
  return dims.size() == 1 && isWhole(view.dims[dims[0]], Axis::channel, channels);
}

/// The name of a layer is that of the module whose weight it takes.
void nameByWeight(const Call& call, const Constant& constant, ImportedNode& layer) {
  const std::string module = call.moduleOf(constant.tensor.name);
  const bool isNamed = !layer.weights.empty() && !call.moduleOf(layer.weights.front().tensor.name).empty();
  if (!module.empty() && !isNamed) layer.names.insert(layer.names.begin(), module);
}

/// Whether a constant has one number for each channel of a layer whose output this node alone reads.
bool belongsToLayer(const Call& call, const View& given, const Constant& constant) {
  if (call.in.graph.at(given.node).isShared || !isPlain(given)) return false;
  const View view = call.in.whole(given);
  return view.node == given.node && isPerChannel(call.in, view, varying(constant, view.dims));
}

/// A constant that takes the place of a weight of which a layer has no value yet. Weights behind it have none either:
/// a scale comes before the shift.
bool fillsIn(Call& call, const View& given, const Constant& constant, std::string_view suffix) {
  ImportedNode& layer = call.in.graph.at(given.node);
  const auto place = std::ranges::find(layer.weights, suffix, &ImportedWeight::suffix);
  const bool isFree =
      std::all_of(place, layer.weights.end(), [](const ImportedWeight& each) { return each.isStandIn; });
  if (place == layer.weights.end() || !isFree || !belongsToLayer(call, given, constant)) return false;
  nameByWeight(call, constant, layer);
  *place = {std::string(suffix), reshaped(call.in.memory, constant, {layer.shape.channels}).tensor};
  call.give(given);
  return true;
}

void productWithChannels(Call& call, const View& given, const Constant& constant) {
  View made = call.in.whole(given);
  if (!isPerChannel(call.in, made, varying(constant, made.dims))) {
    throw UsageError("a product with a constant that has not one number for each channel");
  }
  const int64_t channels = call.in.shapeOf(made).channels;
  const Constant scale = reshaped(call.in.memory, constant, {channels, 1, 1});
  const std::string& name = constant.tensor.name;
  made.node = call.in.graph.add({.operation = "layer_scale",
                                 .inputs = {made.node},
                                 .attributes = {},
                                 .names = {name, call.modulePath(true)},
                                 .weights = {{"", scale.tensor}}});
  call.give(std::move(made));
}

/// A constant that is added to the output of a layer without bias is its bias.
bool becomesBias(Call& call, const View& given, const Constant& constant) {
  ImportedNode& layer = call.in.graph.at(given.node);
  const bool takes = layer.operation != nullptr && layer.operation->parameters != nullptr &&
                     std::string_view(layer.operation->reads).find("bias") != std::string_view::npos;
  if (!takes || layer.attributes.bias || !belongsToLayer(call, given, constant)) return false;
  const Constant bias = reshaped(call.in.memory, constant, {layer.shape.channels});
  layer.attributes.bias = true;
  nameByWeight(call, constant, layer);
  layer.weights.push_back({".bias", bias.tensor});
  call.give(given);
  return true;
}

void addPositions(Call& call, const View& given, const Constant& constant) {
  View made = call.in.whole(given);
  const ImageShape& shape = call.in.shapeOf(made);
  const auto dims = varying(constant, made.dims);
  const bool fits = dims.size() == 2 && shape.width == 1 && isWhole(made.dims[dims[0]], Axis::row, shape.height) &&
                    isWhole(made.dims[dims[1]], Axis::channel, shape.channels);
  if (!fits) throw UsageError("a sum with a constant that is neither a bias nor one vector for each token");
  const Constant positions = reshaped(call.in.memory, constant, {1, shape.height, shape.channels});
  made.node = call.in.graph.add({.operation = "position_embedding",
                                 .inputs = {made.node},
                                 .attributes = {},
                                 .names = {constant.tensor.name, call.modulePath(true)},
                                 .weights = {{"", positions.tensor}}});
  call.give(std::move(made));
}

void sum(Call& call, const View& first, const View& second) {
  for (const auto& [x, cube] : {std::pair(first, second), std::pair(second, first)}) {
    if (auto made = cubicOf(call, x, cube)) return call.give(std::move(*made));
  }
  const View a = call.in.whole(first), b = call.in.whole(second);
  if (a.dims != b.dims) throw UsageError("a sum of two tensors of different shapes or layouts");
  View made = a;
  made.node = call.add({.operation = "add", .inputs = {a.node, b.node}});
  call.give(std::move(made));
}

void add(Call& call) {
  if (call.isView(0) && call.isView(1)) return sum(call, call.view(0), call.view(1));
  const size_t constantInput = call.isConstant(0) ? 0 : 1, other = 1 - constantInput;
  const Constant constant = call.constant(constantInput);
  if (isSingle(constant)) {
    const bool mayBeBias =  // of a layer with one output; a scalar is a number of a formula
        !constant.tensor.shape.empty() && call.isView(other) && call.in.shapeOf(call.view(other)).channels == 1;
    if (mayBeBias && becomesBias(call, call.view(other), constant)) return;
    return call.give(scaled(call.item(other), 1, numberOf(constant)));
  }
  const View given = call.view(other);
  if (fillsIn(call, given, constant, ".bias") || becomesBias(call, given, constant)) return;
  addPositions(call, given, constant);
}

void multiply(Call& call) {
  if (call.isView(0) && call.isView(1)) return product(call, call.view(0), call.view(1));
  const size_t constantInput = call.isConstant(0) ? 0 : 1;
  const Constant constant = call.constant(constantInput);
  if (isSingle(constant)) return call.give(scaled(call.item(1 - constantInput), numberOf(constant), 0));
  const View given = call.view(1 - constantInput);
  if (!fillsIn(call, given, constant, ".weight")) productWithChannels(call, given, constant);
}

void subtract(Call& call) {
  if (call.isView(0) && call.isView(1)) return centred(call);
  if (!call.isConstant(1)) throw UsageError("a difference of which the second part is not constant");
  call.give(scaled(call.item(0), 1, -numberOf(call.constant(1))));
}

void divide(Call& call) {
  if (call.isView(0) && call.isView(1)) return layerNormOfParts(call);
  if (!call.isConstant(1)) throw UsageError("a quotient of which the divisor is not constant");
  const double divisor = numberOf(call.constant(1));
  if (divisor == 0) throw UsageError("a division by 0");
  call.give(scaled(call.item(0), 1 / divisor, 0));
}

void foldAdd(Call& call) {
  foldPairs(call, [](double a, double b) { return a + b; });
}
void foldMultiply(Call& call) {
  foldPairs(call, [](double a, double b) { return a * b; });
}
void foldSubtract(Call& call) {
  foldPairs(call, [](double a, double b) { return a - b; });
}
void foldDivide(Call& call) { foldPairs(call, quotient); }

constexpr std::array rows{
    Operator{"Relu", relu, nullptr, ""},
    Operator{"Sigmoid", sigmoid, nullptr, ""},
    Operator{"Tanh", tanh, nullptr, ""},
    Operator{"HardSwish", hardSwish, nullptr, ""},
    Operator{"HardSigmoid", hardSigmoid, nullptr, "alpha beta"},
    Operator{"Gelu", gelu, nullptr, "approximate"},
    Operator{"Clip", clip, nullptr, ""},
    Operator{"Erf", erf, nullptr, ""},
    Operator{"Softmax", softmax, nullptr, "axis"},
    Operator{"LogSoftmax", part, nullptr, "axis"},
    Operator{"Add", add, foldAdd, ""},
    Operator{"Mul", multiply, foldMultiply, ""},
    Operator{"Sub", subtract, foldSubtract, ""},
    Operator{"Div", divide, foldDivide, ""},
};

}  // namespace

std::span<const Operator> elementOperators() { return rows; }

}  // namespace tandem::onnx
