#include <algorithm>
#include <array>
#include <numeric>

#include "base/error.h"
#include "base/text.h"
#include "models/onnx/importer.h"
#include "models/onnx/parts.h"

/// Operators that only order elements: of views they change the dimensions, of constants the strides.
namespace tandem::onnx {
namespace {

int64_t countOf(const std::vector<int64_t>& shape) {
  return std::accumulate(shape.begin(), shape.end(), int64_t{1}, std::multiplies<>());
}

void identity(Call& call) { call.give(call.item(0)); }

void shape(Call& call) {
  const auto whole = shapeOfItem(call.item(0));
  const auto rank = static_cast<int64_t>(whole.size());
  const auto bound = [rank](int64_t at) { return std::clamp(at < 0 ? at + rank : at, int64_t{0}, rank); };
  const int64_t begin = bound(call.whole("start", 0)), end = bound(call.whole("end", rank));
  std::vector<double> values;
  for (int64_t d = begin; d < end; ++d) values.push_back(static_cast<double>(whole[static_cast<size_t>(d)]));
  call.give(constantOf(call.in.memory, *elementTypeNamed("I64"), {static_cast<int64_t>(values.size())}, values));
}

void size(Call& call) {
  const std::array count{static_cast<double>(countOf(shapeOfItem(call.item(0))))};
  call.give(constantOf(call.in.memory, *elementTypeNamed("I64"), {}, count));
}

/// A dimension that is all channels and pixels of an image, in order, becomes the channels of a node `flatten`.
View flattened(Call& call, const View& view) {
  const ImageShape& shape = call.in.shapeOf(view);
  const Dims all = imageDims(1, shape);
  Dim flat;
  for (const Dim& dim : all) flat.insert(flat.end(), dim.begin(), dim.end());
  const auto place = std::ranges::find(view.dims, flat);
  if (place == view.dims.end() || shape.count() == shape.channels) return view;
  View made = call.in.whole(view);
  made.node = call.add({.operation = "flatten", .inputs = {made.node}});
  made.dims[static_cast<size_t>(place - view.dims.begin())] = wholeAxis(Axis::channel, shape.count());
  return made;
}

/// The sizes that Reshape asks for: -1 is what is left, 0 the size before.
std::vector<int64_t> resolved(std::vector<int64_t> wanted, const std::vector<int64_t>& before, bool zeroIsSize) {
  int64_t known = 1;
  for (size_t d = 0; d < wanted.size(); ++d) {
    if (wanted[d] == 0 && !zeroIsSize && d < before.size()) wanted[d] = before[d];
    if (wanted[d] < -1 || wanted[d] == 0) throw UsageError(concat("a dimension of size ", wanted[d]));
    if (wanted[d] > 0 && __builtin_mul_overflow(known, wanted[d], &known)) throw UsageError("a size beyond 64 bits");
  }
  if (std::ranges::count(wanted, -1) > 1) throw UsageError("two dimensions of size -1");
  const int64_t all = countOf(before);
  for (int64_t& size : wanted) {
    if (size == -1) size = all / known, known *= size;
  }
  if (known != all) throw UsageError(concat("a shape of ", known, " elements where there are ", all));
  return wanted;
}

Item inShape(Call& call, const Item& item, const std::vector<int64_t>& wanted) {
  if (const auto* const constant = std::get_if<Constant>(&item)) return reshaped(call.in.memory, *constant, wanted);
  if (!std::holds_alternative<View>(item)) throw UsageError("the weights of attention are reshaped");
  View view = std::get<View>(item);
  auto dims = tandem::onnx::reshaped(view.dims, wanted);
  if (!dims) throw UsageError("its shape divides an axis unevenly");
  view.dims = std::move(*dims);
  return flattened(call, view);
}

void giveReshaped(Call& call, const std::vector<int64_t>& wanted) { call.give(inShape(call, call.item(0), wanted)); }

void reshape(Call& call) {
  const bool zeroIsSize = call.whole("allowzero", 0) != 0;
  giveReshaped(call, resolved(wholesOf(call.in.memory, call.constant(1)), shapeOfItem(call.item(0)), zeroIsSize));
}

void flatten(Call& call) {
  const auto before = shapeOfItem(call.item(0));
  const int64_t axis = call.whole("axis", 1);
  const auto rank = static_cast<int64_t>(before.size());
  if (axis < -rank || axis > rank) throw UsageError(concat("axis ", axis, " of ", rank, " dimensions"));
  const auto middle = before.begin() + (axis < 0 ? axis + rank : axis);
  giveReshaped(call, {countOf({before.begin(), middle}), countOf({middle, before.end()})});
}

std::vector<int64_t> axesOf(const Call& call) { return call.wholesOr(1, call.wholes("axes", {})); }

void squeeze(Call& call) {
  const auto before = shapeOfItem(call.item(0));
  const auto axes = axesOf(call);
  std::vector<bool> gone(before.size(), false);
  for (const int64_t axis : axes) gone[dimensionOf(axis, before.size())] = true;
  std::vector<int64_t> wanted;
  for (size_t d = 0; d < before.size(); ++d) {
    const bool leaves = axes.empty() ? before[d] == 1 : gone[d];
    if (leaves && before[d] != 1) throw UsageError(concat("dimension ", d, " has size ", before[d], ", not 1"));
    if (!leaves) wanted.push_back(before[d]);
  }
  giveReshaped(call, wanted);
}

void unsqueeze(Call& call) {
  const auto before = shapeOfItem(call.item(0));
  const auto axes = axesOf(call);
  const size_t rank = before.size() + axes.size();
  if (rank > FileTensor::maxRank) throw UsageError(concat("it makes ", rank, " dimensions"));
  std::vector<bool> isNew(rank, false);
  for (const size_t d : dimensionsOf(axes, rank)) isNew[d] = true;
  std::vector<int64_t> wanted;
  for (size_t d = 0, from = 0; d < rank; ++d) wanted.push_back(isNew[d] ? 1 : before[from++]);
  giveReshaped(call, wanted);
}

void transpose(Call& call) {
  const size_t rank = shapeOfItem(call.item(0)).size();
  std::vector<int64_t> order(rank);
  std::iota(order.rbegin(), order.rend(), 0);
  order = call.wholes("perm", order);
  std::vector<int64_t> sorted = order;
  std::ranges::sort(sorted);
  for (size_t d = 0; d < std::max(rank, sorted.size()); ++d) {
    const bool fits = sorted.size() == rank && sorted[d] == static_cast<int64_t>(d);
    if (!fits) throw UsageError("perm is no order of the dimensions");
  }
  if (call.isConstant(0)) return call.give(transposed(call.constant(0), order));
  View view = call.view(0);
  Dims dims;
  for (const int64_t from : order) dims.push_back(view.dims[static_cast<size_t>(from)]);
  view.dims = std::move(dims);
  call.give(std::move(view));
}

void expand(Call& call) {
  const auto wanted = wholesOf(call.in.memory, call.constant(1));
  if (call.isConstant(0)) return call.give(expanded(call.constant(0), wanted));
  const auto before = shapeOfItem(call.item(0));
  for (size_t d = 0; d < wanted.size(); ++d) {
    const bool keeps =
        wanted.size() <= before.size() && (wanted[d] == 1 || wanted[d] == before[d + before.size() - wanted.size()]);
    if (!keeps) throw UsageError("it repeats what depends on the images");
  }
  call.give(call.view(0));
}

/// Item `index` of dimension `d`, which is left away.
Item selected(Call& call, const Item& item, size_t d, int64_t index) {
  const auto before = shapeOfItem(item);
  if (index < 0) index += before[d];
  if (index < 0 || index >= before[d]) throw UsageError(concat("there is no item ", index, " of ", before[d]));
  Item result = partOf(call, item, d, index, 1, 1);
  if (auto* const view = std::get_if<View>(&result)) {
    view->dims.erase(view->dims.begin() + static_cast<std::ptrdiff_t>(d));
    return result;
  }
  auto& constant = std::get<Constant>(result);
  std::vector<int64_t> shape = constant.tensor.shape;
  shape.erase(shape.begin() + static_cast<std::ptrdiff_t>(d));
  return reshaped(call.in.memory, constant, std::move(shape));
}

void gather(Call& call) {
  const auto before = shapeOfItem(call.item(0));
  const size_t d = dimensionOf(call.whole("axis", 0), before.size());
  const Constant& indexes = call.constant(1);
  const auto places = wholesOf(call.in.memory, indexes);
  if (indexes.tensor.shape.empty()) return call.give(selected(call, call.item(0), d, places.front()));
  std::vector<int64_t> wanted(before.begin(), before.begin() + static_cast<std::ptrdiff_t>(d));
  wanted.insert(wanted.end(), indexes.tensor.shape.begin(), indexes.tensor.shape.end());
  wanted.insert(wanted.end(), before.begin() + static_cast<std::ptrdiff_t>(d) + 1, before.end());
  bool inOrder = std::ssize(places) == before[d];
  for (size_t i = 0; i < places.size(); ++i) inOrder = inOrder && places[i] == static_cast<int64_t>(i);
  if (inOrder) return giveReshaped(call, wanted);
  if (places.size() == 1) {
    return call.give(inShape(call, selected(call, call.item(0), d, places.front()), wanted));
  }
  if (!call.isConstant(0) || before.size() != 1) throw UsageError("it picks several items, not all in order");
  const auto values = numbersOf(call.in.memory, call.constant(0));
  std::vector<double> picked;
  for (const int64_t place : places) {
    const int64_t index = place < 0 ? place + before[0] : place;
    if (index < 0 || index >= before[0]) throw UsageError(concat("there is no item ", place, " of ", before[0]));
    picked.push_back(values[static_cast<size_t>(index)]);
  }
  call.give(constantOf(call.in.memory, *call.constant(0).tensor.type, indexes.tensor.shape, picked));
}

/// A trained token in front of those that pixels became.
void putInFront(Call& call, size_t d) {
  View made = call.in.whole(call.view(1));
  const ImageShape& shape = call.in.shapeOf(made);
  Constant token = call.constant(0);
  const Dim pixels = joined({{Axis::row, shape.height, 1}, {Axis::column, shape.width, 1}});
  const auto isPixels = [&](const Dim& dim) {
    Dim plain;
    std::ranges::copy_if(pixels, std::back_inserter(plain), [](const Atom& atom) { return atom.extent > 1; });
    return dim == plain;
  };
  const size_t last = made.dims.size() - 1;
  const bool fits = made.dims.size() == 3 && d == 1 && isPixels(made.dims[1]) &&
                    isWhole(made.dims[last], Axis::channel, shape.channels) && isOnly(made.dims[0], Axis::image) &&
                    token.tensor.shape.size() == 3 && token.tensor.shape[1] == 1 &&
                    token.tensor.shape[2] == shape.channels;
  if (!fits) throw UsageError("it joins a constant to what is not [N, pixels, C]");
  token = reshaped(call.in.memory, sliced(token, 0, 0, 1, 1), {1, 1, shape.channels});
  made.node = call.in.graph.add({.operation = "class_token",
                                 .inputs = {made.node},
                                 .attributes = {},
                                 .names = {call.in.sourceOf(token.tensor), call.modulePath(true)},
                                 .weights = {{"", token.tensor}}});
  made.dims[1] = wholeAxis(Axis::row, call.in.shapeOf(made).height);
  call.give(std::move(made));
}

void concatenate(Call& call) {
  if (call.inputs() == 1) return identity(call);
  const View first = call.isView(0) ? call.view(0) : call.view(1);
  const size_t d = dimensionOf(call.whole("axis", 0), first.dims.size());
  if (call.inputs() == 2 && call.isConstant(0)) return putInFront(call, d);
  std::vector<int> parts;
  int64_t channels = 0;
  View made;
  for (size_t i = 0; i < call.inputs(); ++i) {
    const View view = call.in.whole(call.view(i));
    const ImageShape& shape = call.in.shapeOf(view);
    if (view.dims.size() <= d || !isWhole(view.dims[d], Axis::channel, shape.channels)) {
      throw UsageError("it joins along another dimension than the channels");
    }
    View rest = view;
    rest.dims[d].clear();
    if (i == 0) made = rest;
    if (rest.dims != made.dims) throw UsageError("its inputs differ in other dimensions than the channels");
    channels += shape.channels;
    parts.push_back(view.node);
  }
  made.node = call.add({.operation = "concat", .inputs = std::move(parts)});
  made.dims[d] = wholeAxis(Axis::channel, channels);
  call.give(std::move(made));
}

void foldConcatenate(Call& call) {
  std::vector<double> values;
  for (size_t i = 0; i < call.inputs(); ++i) {
    if (call.constant(i).tensor.shape.size() != 1)
      throw UsageError("constants of more than one dimension are not joined");
    const auto more = numbersOf(call.in.memory, call.constant(i));
    call.in.memory.requireRoom(sizeof(double) * (values.size() + more.size()));
    values.insert(values.end(), more.begin(), more.end());
  }
  if (call.inputs() == 0) throw UsageError("it has no input");
  call.give(constantOf(call.in.memory, *call.constant(0).tensor.type, {static_cast<int64_t>(values.size())}, values));
}

/// Zeros around the pixels.
void pad(Call& call) {
  if (call.text("mode", "constant") != "constant") throw UsageError("only zeros are added around images");
  if (call.has(2) && numberOf(call.constant(2)) != 0) throw UsageError("only zeros are added around images");
  const int input = call.in.image(call.view(0));
  std::vector<int64_t> axes(call.view(0).dims.size());
  std::iota(axes.begin(), axes.end(), 0);
  axes = call.wholesOr(3, axes);
  const auto pads = wholesOf(call.in.memory, call.constant(1));
  if (pads.size() != 2 * axes.size()) throw UsageError(concat(pads.size(), " pads of ", axes.size(), " axes"));
  std::array<std::pair<int64_t, int64_t>, 4> byAxis{};
  for (size_t i = 0; i < axes.size(); ++i) byAxis.at(dimensionOf(axes[i], 4)) = {pads[i], pads[i + axes.size()]};
  constexpr std::pair<int64_t, int64_t> none{0, 0};
  if (byAxis[0] != none || byAxis[1] != none) throw UsageError("images or channels are padded");
  for (const auto& [before, behind] : byAxis) {
    constexpr int64_t most = 1 << 15;
    if (std::max(before, behind) > most || std::min(before, behind) < -most) {
      throw UsageError("more than 32768 zeros are added or pixels taken away");
    }
  }
  if (byAxis == std::array<std::pair<int64_t, int64_t>, 4>{}) return identity(call);
  Attributes a;
  a.padding = {byAxis[2].first, byAxis[2].second, byAxis[3].first, byAxis[3].second};
  View made = call.view(0);
  made.node = call.add({.operation = "pad", .inputs = {input}, .attributes = a});
  made.firstChannel = 0, made.factor = 1;
  made.dims[1] = wholeAxis(Axis::channel, call.in.shapeOf(made).channels);
  made.dims[2] = wholeAxis(Axis::row, call.in.shapeOf(made).height);
  made.dims[3] = wholeAxis(Axis::column, call.in.shapeOf(made).width);
  call.give(std::move(made));
}

constexpr std::array rows{
    Operator{"Identity", identity, identity, ""},
    Operator{"Shape", shape, shape, "start end", true},
    Operator{"Size", size, size, "", true},
    Operator{"Reshape", reshape, reshape, "allowzero"},
    Operator{"Flatten", flatten, flatten, "axis"},
    Operator{"Squeeze", squeeze, squeeze, "axes"},
    Operator{"Unsqueeze", unsqueeze, unsqueeze, "axes"},
    Operator{"Transpose", transpose, transpose, "perm"},
    Operator{"Expand", expand, expand, ""},
    Operator{"Gather", gather, gather, "axis"},
    Operator{"Concat", concatenate, foldConcatenate, "axis"},
    Operator{"Pad", pad, nullptr, "mode"},
};

}  // namespace

std::span<const Operator> shapeOperators() { return rows; }

}  // namespace tandem::onnx
