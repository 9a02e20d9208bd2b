#include <algorithm>
#include <array>
#include <cmath>

#include "base/catalog.h"
#include "base/error.h"
#include "base/text.h"
#include "graph/operation.h"
#include "models/onnx/attention.h"
#include "models/onnx/importer.h"
#include "models/onnx/layer_norm.h"

/// Operators with weights, pools and norms.
namespace tandem::onnx {
namespace {

/// Window of a convolution or a pool, [top, left, bottom, right] as `pads` has it.
struct Window {
  std::vector<int64_t> kernel, stride, dilation, pads;
};

void requireTwo(const std::vector<int64_t>& sizes, std::string_view what, int64_t least) {
  if (sizes.size() == 2 && std::ranges::min(sizes) >= least && std::ranges::max(sizes) <= 1 << 15) return;
  throw UsageError(concat(what, " must be two numbers from ", least, " to 32768, as of images"));
}

/// Padding by auto_pad for an input of `size`: its sum, and the part in front.
std::pair<int64_t, int64_t> samePads(int64_t size, int64_t kernel, int64_t stride, bool upper) {
  const int64_t windows = (size + stride - 1) / stride;
  const int64_t sum = std::max<int64_t>(0, (windows - 1) * stride + kernel - size);
  const int64_t front = upper ? sum / 2 : sum - sum / 2;
  return {front, sum - front};
}

Window windowOf(const Call& call, std::vector<int64_t> kernel, const ImageShape& in) {
  Window window{std::move(kernel), call.wholes("strides", {1, 1}), call.wholes("dilations", {1, 1}),
                call.wholes("pads", {0, 0, 0, 0})};
  requireTwo(window.kernel, "kernel_shape", 1);
  requireTwo(window.stride, "strides", 1);
  requireTwo(window.dilation, "dilations", 1);
  if (window.pads.size() != 4) throw UsageError("pads must be four numbers, as of images");
  for (const int64_t pad : window.pads) {
    if (pad < 0 || pad > 1 << 15) throw UsageError(concat("pads has ", pad, "; each must be from 0 to 32768"));
  }
  const std::string automatic = call.text("auto_pad", "NOTSET");
  if (automatic == "NOTSET") return window;
  window.pads = {0, 0, 0, 0};
  if (automatic == "VALID") return window;
  if (automatic != "SAME_UPPER" && automatic != "SAME_LOWER") throw UsageError(concat("auto_pad is '", automatic, "'"));
  const bool upper = automatic == "SAME_UPPER";
  for (size_t d = 0; d < 2; ++d) {
    const int64_t reach = (window.kernel[d] - 1) * window.dilation[d] + 1;
    std::tie(window.pads[d], window.pads[d + 2]) =
        samePads(d == 0 ? in.height : in.width, reach, window.stride[d], upper);
  }
  return window;
}

Attributes attributesOf(const Window& window) {
  Attributes a;
  a.kernelH = window.kernel[0], a.kernelW = window.kernel[1];
  a.strideH = window.stride[0], a.strideW = window.stride[1];
  a.padding = {window.pads[0], window.pads[2], window.pads[1], window.pads[3]};
  return a;
}

/// The tensor in the shape of a parameter. Throws UsageError if it has another one or no floating-point type.
FileTensor inShape(const Constant& constant, std::vector<int64_t> shape, std::string_view what) {
  const FileTensor& tensor = constant.tensor;
  if (tensor.shape != shape) {
    throw UsageError(concat(what, " has ", tensor.elements(), " values in ", tensor.shape.size(),
                            " dimensions; its shape does not fit the layer"));
  }
  if (!tensor.type->floating()) throw UsageError(concat(what, " is of type ", tensor.type->name));
  constexpr uint64_t mostExpanded = 64 << 20;
  if (tensor.byteCount() > std::max<uint64_t>(tensor.bytes.size(), mostExpanded)) {
    throw UsageError(concat(what, " is one number expanded to ", tensor.byteCount(), " bytes"));
  }
  return tensor;
}

void convolution(Call& call) {
  int input = call.in.image(call.view(0));
  const Constant& weight = call.constant(1);
  const std::vector<int64_t>& shape = weight.tensor.shape;
  if (shape.size() != 4) throw UsageError(concat("its weight has ", shape.size(), " dimensions; there must be 4"));
  const ImageShape& in = call.in.graph.at(input).shape;
  Window window = windowOf(call, {shape[2], shape[3]}, in);
  if (call.wholes("kernel_shape", window.kernel) != window.kernel) throw UsageError("kernel_shape is not the weight's");
  Attributes a = attributesOf(window);
  a.outputs = shape[0];
  a.groups = call.whole("group", 1);
  a.dilationH = window.dilation[0], a.dilationW = window.dilation[1];
  const bool isDilated = a.dilationH != 1 || a.dilationW != 1;
  const bool hasBias = call.has(2) && !isExpandedZero(call.constant(2));
  a.bias = hasBias;
  const ImportedNode& before = call.in.graph.at(input);
  if (before.operation != nullptr && before.operation->name == "pad") {  // becomes the convolution's own
    const Padding& more = before.attributes.padding;
    if (std::min({more.top, more.bottom, more.left, more.right}) >= 0) {
      a.padding.top += more.top, a.padding.bottom += more.bottom;
      a.padding.left += more.left, a.padding.right += more.right;
      input = before.inputs.front();
    }
  }
  if (a.groups < 1) throw UsageError(concat("group is ", a.groups));
  const int64_t channels = call.in.graph.at(input).shape.channels;
  std::vector<ImportedWeight> weights{
      {".weight", inShape(weight, {a.outputs, channels / a.groups, a.kernelH, a.kernelW}, "its weight")}};
  if (hasBias) weights.push_back({".bias", inShape(call.constant(2), {a.outputs}, "its bias")});
  const int node = call.add({.operation = isDilated ? "dilated_conv" : "conv",
                             .inputs = {input},
                             .attributes = a,
                             .weights = std::move(weights)},
                            call.inputName(1), hasBias ? call.inputName(2) : "");
  const ImageShape& out = call.in.graph.at(node).shape;
  View made{.node = node, .dims = call.view(0).dims};
  made.dims[1] = wholeAxis(Axis::channel, out.channels);
  made.dims[2] = wholeAxis(Axis::row, out.height);
  made.dims[3] = wholeAxis(Axis::column, out.width);
  call.give(std::move(made));
}

void giveImage(Call& call, int node) {
  const ImageShape& out = call.in.graph.at(node).shape;
  View made{.node = node, .dims = imageDims(1, out)};
  made.dims[0] = call.view(0).dims[0];
  call.give(std::move(made));
}

/// The attributes of a pool whose `pads` may reach further behind than in front: padding never wins and never counts,
/// so the number of windows alone decides.
Attributes poolAttributes(const Call& call, const ImageShape& in, bool paddingCounts) {
  const Window window = windowOf(call, call.wholes("kernel_shape", {}), in);
  if (window.dilation != std::vector<int64_t>{1, 1}) throw UsageError("a pool with dilations");
  Attributes a = attributesOf(window);
  a.ceilMode = call.whole("ceil_mode", 0) != 0;
  if (a.padding.symmetric()) return a;
  const std::array<int64_t, 2> sizes{in.height, in.width};
  std::array<int64_t, 2> wanted{};
  for (size_t d = 0; d < 2; ++d) {
    const int64_t room = sizes[d] + window.pads[d] + window.pads[d + 2] - window.kernel[d];
    wanted[d] = (a.ceilMode ? room + window.stride[d] - 1 : room) / window.stride[d] + 1;
  }
  a.padding = {window.pads[0], window.pads[0], window.pads[1], window.pads[1]};
  for (const bool up : {false, true}) {
    a.ceilMode = up;
    const std::array<ImageShape, 1> inputs{in};
    const ImageShape out = find(operations(), "max_pool", "operation").shape(a, inputs);
    if (out.height == wanted[0] && out.width == wanted[1] && !paddingCounts) return a;
  }
  throw UsageError("pads are unequal; they must be equal on opposite edges of a pool");
}

void pool(Call& call, std::string_view operation, bool paddingCounts) {
  const int input = call.in.image(call.view(0));
  Attributes a = poolAttributes(call, call.in.graph.at(input).shape, paddingCounts);
  a.countPadding = paddingCounts;
  giveImage(call, call.add({.operation = operation, .inputs = {input}, .attributes = a}));
}

void maxPool(Call& call) {
  if (call.whole("storage_order", 0) != 0) throw UsageError("storage_order must be 0");
  pool(call, "max_pool", false);
}

void averagePool(Call& call) { pool(call, "avg_pool", call.whole("count_include_pad", 0) != 0); }

void globalAveragePool(Call& call) {
  giveImage(call, call.add({.operation = "global_avg_pool", .inputs = {call.in.image(call.view(0))}}));
}

/// The mean over all pixels.
void reduceMean(Call& call) {
  const View given = call.in.whole(call.view(0));
  const ImageShape& shape = call.in.shapeOf(given);
  std::vector<int64_t> axes = call.inputs() > 1 ? call.wholesOr(1, {}) : call.wholes("axes", {});
  if (axes.empty() && call.whole("noop_with_empty_axes", 0) != 0) return call.give(given);
  std::vector<bool> isMean(given.dims.size(), axes.empty());
  for (const int64_t axis : axes) isMean[dimensionOf(axis, given.dims.size())] = true;
  const bool isLast = std::ranges::count(isMean, true) == 1 && isMean.back();
  if (isLast && isWhole(given.dims.back(), Axis::channel, shape.channels)) return channelMean(call, given);
  const bool keeps = call.whole("keepdims", 1) != 0;
  Dims dims;
  int64_t pixels = 1;
  for (size_t d = 0; d < given.dims.size(); ++d) {
    if (!isMean[d]) dims.push_back(given.dims[d]);
    if (isMean[d] && keeps) dims.emplace_back();
    for (const Atom& atom : given.dims[d]) {
      const bool isPixel = atom.axis == Axis::row || atom.axis == Axis::column;
      if (isMean[d] != isPixel) throw UsageError("a mean over other dimensions than height and width together");
      if (isMean[d]) pixels *= atom.extent;
    }
  }
  if (pixels != shape.height * shape.width) throw UsageError("a mean over a part of the pixels");
  const int node = call.add({.operation = "global_avg_pool", .inputs = {given.node}});
  call.give(View{.node = node, .dims = std::move(dims)});
}

void batchNorm(Call& call) {
  const View given = call.in.whole(call.view(0));
  const int64_t channels = call.in.shapeOf(given).channels;
  if (given.dims.size() < 2 || !isWhole(given.dims[1], Axis::channel, channels)) {
    throw UsageError("its input is not [N, C, ...]");
  }
  Attributes a;
  a.epsilon = call.number("epsilon", 1e-5);
  a.momentum = std::round((1 - call.number("momentum", 0.9)) * 1e12) / 1e12;  // the weight of the new batch
  constexpr std::array<std::string_view, 4> suffixes{".weight", ".bias", ".running_mean", ".running_var"};
  std::vector<ImportedWeight> weights;
  for (size_t i = 0; i < suffixes.size(); ++i) {
    weights.push_back({std::string(suffixes.at(i)), inShape(call.constant(i + 1), {channels}, suffixes.at(i))});
  }
  View made = given;
  made.node =
      call.add({.operation = "batch_norm", .inputs = {given.node}, .attributes = a, .weights = std::move(weights)},
               call.inputName(1), call.inputName(2));
  call.give(std::move(made));
}

void layerNorm(Call& call) {
  const View given = call.in.whole(call.view(0));
  const int64_t channels = call.in.shapeOf(given).channels;
  const size_t last = given.dims.size() - 1;
  if (dimensionOf(call.whole("axis", -1), given.dims.size()) != last ||
      !isWhole(given.dims[last], Axis::channel, channels)) {
    throw UsageError("it normalises over other dimensions than the channels");
  }
  Attributes a;
  a.epsilon = call.number("epsilon", 1e-5);
  std::vector<ImportedWeight> weights{{".weight", inShape(call.constant(1), {channels}, "its scale")}};
  weights.push_back(call.has(2) ? ImportedWeight{".bias", inShape(call.constant(2), {channels}, "its shift")}
                                : standIn(call.in.memory, ".bias", channels, 0));
  View made = given;
  made.node =
      call.add({.operation = "layer_norm", .inputs = {given.node}, .attributes = a, .weights = std::move(weights)},
               call.inputName(1), call.has(2) ? call.inputName(2) : "");
  call.give(std::move(made));
}

/// x times a matrix, [outputs, inputs] in `weight`, at each pixel or token.
void linear(Call& call, const Constant& weight, const Constant* bias, std::string_view weightName) {
  const View given = call.in.whole(call.view(0));
  const ImageShape& shape = call.in.shapeOf(given);
  if (given.dims.empty() || !isWhole(given.dims.back(), Axis::channel, shape.channels)) {
    throw UsageError("the last dimension of its input is not the channels");
  }
  const bool isFlat = given.dims.size() == 2 && shape.count() == shape.channels;
  const bool hasBias = bias != nullptr && !isExpandedZero(*bias);
  Attributes a;
  a.outputs = weight.tensor.shape[0];
  a.bias = hasBias;
  std::vector<ImportedWeight> weights{{".weight", inShape(weight, {a.outputs, shape.channels}, "its weight")}};
  if (hasBias) weights.push_back({".bias", inShape(*bias, {a.outputs}, "its bias")});
  View made = given;
  made.node = call.add({.operation = isFlat ? "linear" : "channel_linear",
                        .inputs = {given.node},
                        .attributes = a,
                        .weights = std::move(weights)},
                       weightName, hasBias ? std::string_view(bias->tensor.name) : "");
  made.dims.back() = wholeAxis(Axis::channel, a.outputs);
  call.give(std::move(made));
}

void gemm(Call& call) {
  const bool plain = call.number("alpha", 1) == 1 && (!call.has(2) || call.number("beta", 1) == 1);
  if (!plain || call.whole("transA", 0) != 0) throw UsageError("alpha and beta must be 1, transA 0");
  constexpr std::array<int64_t, 2> swap{1, 0};
  const Constant& given = call.constant(1);
  if (given.tensor.shape.size() != 2) throw UsageError("its weight is no matrix");
  const Constant weight = call.whole("transB", 0) != 0 ? given : transposed(given, swap);
  const Constant* bias = call.has(2) ? &call.constant(2) : nullptr;
  Constant row;
  if (bias != nullptr && bias->tensor.shape.size() == 2 && bias->tensor.shape[0] == 1) {
    row = reshaped(call.in.memory, *bias, {bias->tensor.shape[1]});
    bias = &row;
  }
  linear(call, weight, bias, call.inputName(1));
}

void matMul(Call& call) {
  if (call.isView(0) && call.isConstant(1)) {
    constexpr std::array<int64_t, 2> swap{1, 0};
    const Constant& given = call.constant(1);
    if (given.tensor.shape.size() != 2) throw UsageError("a product with a constant that is no matrix");
    return linear(call, transposed(given, swap), nullptr, call.inputName(1));
  }
  attention(call);
}

void dropout(Call& call) {
  const View given = call.in.whole(call.view(0));
  Attributes a;
  a.probability = call.has(1) ? shortest(static_cast<float>(numberOf(call.constant(1)))) : 0.5;
  View made = given;
  made.node = call.add({.operation = "dropout", .inputs = {given.node}, .attributes = a});
  call.give(std::move(made));
}

void responseNorm(Call& call) {
  const int input = call.in.image(call.view(0));
  const int64_t size = call.whole("size", 0);
  if (size < 1 || size % 2 == 0 || call.number("bias", 1) != 1) throw UsageError("size must be odd, bias 1");
  Attributes a;
  a.radius = size / 2;
  a.alpha = call.number("alpha", 1e-4) / static_cast<double>(size);
  a.beta = call.number("beta", 0.75);
  giveImage(call, call.add({.operation = "local_response_norm", .inputs = {input}, .attributes = a}));
}

constexpr std::array rows{
    Operator{"Conv", convolution, nullptr, "auto_pad dilations group kernel_shape pads strides"},
    Operator{"MaxPool", maxPool, nullptr, "auto_pad ceil_mode dilations kernel_shape pads storage_order strides"},
    Operator{"AveragePool", averagePool, nullptr,
             "auto_pad ceil_mode count_include_pad dilations kernel_shape pads strides"},
    Operator{"GlobalAveragePool", globalAveragePool, nullptr, ""},
    Operator{"ReduceMean", reduceMean, nullptr, "axes keepdims noop_with_empty_axes"},
    Operator{"BatchNormalization", batchNorm, nullptr, "epsilon momentum training_mode"},
    Operator{"LayerNormalization", layerNorm, nullptr, "axis epsilon stash_type"},
    Operator{"Gemm", gemm, nullptr, "alpha beta transA transB"},
    Operator{"MatMul", matMul, nullptr, ""},
    Operator{"Dropout", dropout, nullptr, "seed"},
    Operator{"LRN", responseNorm, nullptr, "alpha beta bias size"},
};

}  // namespace

std::span<const Operator> layerOperators() { return rows; }

}  // namespace tandem::onnx
