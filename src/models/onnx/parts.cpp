#include "models/onnx/parts.h"

#include <algorithm>
#include <array>
#include <numeric>

#include "base/error.h"
#include "base/text.h"

/// Operators that take parts of a dimension.
namespace tandem::onnx {
namespace {

/// Items `begin`, `begin + step`, ... of a dimension of a view.
View part(Call& call, View view, size_t d, int64_t begin, int64_t step, int64_t count) {
  if (extentOf(view.dims[d]) == count) return view;
  if (count == 0) throw UsageError("nothing is left");
  if (view.dims[d].size() > 1) view = call.in.whole(view);
  const Dim dim = view.dims[d];  // a copy: `view` changes
  const Atom atom = dim.empty() ? Atom{} : dim.front();
  const ImageShape shape = call.in.shapeOf(view);
  if (dim.size() == 1 && atom.axis == Axis::channel && step == 1) {
    view.firstChannel += begin * atom.stride;
    view.dims[d] = count == 1 ? Dim() : Dim{{Axis::channel, count, atom.stride}};
    return view;
  }
  view = call.in.whole(view);
  const bool isRows = isWhole(dim, Axis::row, shape.height);
  if (isRows && shape.width == 1 && begin == 0 && count == 1) {
    view.node = call.add({.operation = "first_token", .inputs = {view.node}});
    view.dims[d].clear();
    return view;
  }
  if (!isRows && !isWhole(dim, Axis::column, shape.width)) throw UsageError("a part of a dimension that is mixed");
  const int64_t end = begin + (count - 1) * step + 1, behind = (isRows ? shape.height : shape.width) - end;
  Attributes crop, stride;
  (isRows ? crop.padding.top : crop.padding.left) = -begin;
  (isRows ? crop.padding.bottom : crop.padding.right) = -behind;
  (isRows ? stride.strideH : stride.strideW) = step;
  const bool crops = begin != 0 || (step == 1 && behind != 0) || behind >= step;
  if (crops) view.node = call.add({.operation = "pad", .inputs = {view.node}, .attributes = crop});
  if (step > 1) view.node = call.add({.operation = "subsample", .inputs = {view.node}, .attributes = stride});
  view.dims[d] = wholeAxis(isRows ? Axis::row : Axis::column, count);
  return view;
}

}  // namespace

Item partOf(Call& call, const Item& item, size_t d, int64_t begin, int64_t step, int64_t count) {
  if (const auto* const constant = std::get_if<Constant>(&item)) return sliced(*constant, d, begin, step, count);
  return part(call, std::get<View>(item), d, begin, step, count);
}

namespace {

void slice(Call& call) {
  Item item = call.item(0);
  const auto begins = wholesOf(call.in.memory, call.constant(1)), ends = wholesOf(call.in.memory, call.constant(2));
  std::vector<int64_t> axes(begins.size());
  std::iota(axes.begin(), axes.end(), 0);
  axes = call.wholesOr(3, axes);
  const auto steps = call.wholesOr(4, std::vector<int64_t>(begins.size(), 1));
  if (ends.size() != begins.size() || axes.size() != begins.size() || steps.size() != begins.size()) {
    throw UsageError("starts, ends, axes and steps have different lengths");
  }
  const auto dims = dimensionsOf(axes, shapeOfItem(item).size());
  for (size_t i = 0; i < dims.size(); ++i) {
    const auto before = shapeOfItem(item);
    const size_t d = dims[i];
    const auto bound = [&](int64_t at) { return std::clamp(at < 0 ? at + before[d] : at, int64_t{0}, before[d]); };
    const int64_t begin = bound(begins[i]), end = bound(ends[i]);
    if (steps[i] < 1 || steps[i] > 1 << 20) throw UsageError(concat("a step of ", steps[i]));
    item = partOf(call, item, d, begin, steps[i], (std::max(begin, end) - begin + steps[i] - 1) / steps[i]);
  }
  call.give(std::move(item));
}

/// Parts of input 0 along dimension `d`, one after the other.
std::vector<Item> partsOf(Call& call, size_t d, std::span<const int64_t> sizes) {
  const int64_t extent = shapeOfItem(call.item(0))[d];
  Item item = call.item(0);
  if (call.isView(0) && call.view(0).dims[d].size() > 1) item = call.in.whole(call.view(0));
  std::vector<Item> parts;
  int64_t begin = 0;
  for (size_t i = 0; i < sizes.size(); begin += sizes[i++]) {
    if (sizes[i] < 1 || sizes[i] > extent - begin) throw UsageError(concat("part ", i, " has size ", sizes[i]));
    parts.push_back(partOf(call, item, d, begin, 1, sizes[i]));
  }
  return parts;
}

/// So many sizes `each`; the last one is what is left.
std::vector<int64_t> equalSizes(int64_t extent, int64_t each, int64_t count) {
  std::vector<int64_t> sizes(static_cast<size_t>(count), each);
  if (!sizes.empty()) sizes.back() = extent - each * (count - 1);
  return sizes;
}

void splitInto(Call& call) {
  const auto before = shapeOfItem(call.item(0));
  const size_t d = dimensionOf(call.whole("axis", 0), before.size());
  const auto count = static_cast<int64_t>(call.node().outputs.size());
  const int64_t each = (before[d] + count - 1) / std::max<int64_t>(1, count);
  const auto sizes = call.wholesOr(1, equalSizes(before[d], each, count));
  if (std::ssize(sizes) != count) throw UsageError(concat(sizes.size(), " sizes of ", count, " outputs"));
  auto parts = partsOf(call, d, sizes);
  for (size_t i = 0; i < parts.size(); ++i) call.give(std::move(parts[i]), i);
}

/// One size for each part, or one for all of them. (`keepdims` is for parts whose size is left away.)
void splitToSequence(Call& call) {
  constexpr int64_t mostParts = 1024;
  const auto before = shapeOfItem(call.item(0));
  const size_t d = dimensionOf(call.whole("axis", 0), before.size());
  if (!call.has(1)) throw UsageError("the size of its parts must be given");
  auto sizes = wholesOf(call.in.memory, call.constant(1));
  if (call.constant(1).tensor.shape.empty()) {
    const int64_t each = sizes.front();
    if (each < 1 || (before[d] - 1) / each >= mostParts) {
      throw UsageError(concat("a dimension of size ", before[d], " in parts of size ", each));
    }
    sizes = equalSizes(before[d], each, (before[d] - 1) / each + 1);
  }
  call.give(Sequence{partsOf(call, d, sizes)});
}

void sequenceAt(Call& call) {
  const auto* const sequence = std::get_if<Sequence>(&call.item(0));
  if (sequence == nullptr) throw UsageError("input 0 (from 0) must be a sequence");
  const auto places = wholesOf(call.in.memory, call.constant(1));
  const int64_t count = std::ssize(sequence->parts);
  if (places.size() != 1 || places.front() < -count || places.front() >= count) {
    throw UsageError(concat("its place is none of ", count, " parts"));
  }
  call.give(sequence->parts[static_cast<size_t>(places.front() < 0 ? places.front() + count : places.front())]);
}

constexpr std::array rows{
    Operator{"Slice", slice, slice, ""},
    Operator{"Split", splitInto, splitInto, "axis num_outputs"},
    Operator{"SplitToSequence", splitToSequence, splitToSequence, "axis keepdims"},
    Operator{"SequenceAt", sequenceAt, nullptr, ""},
};

}  // namespace

std::span<const Operator> partOperators() { return rows; }

}  // namespace tandem::onnx
