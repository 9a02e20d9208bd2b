#include "models/onnx/axes.h"

#include <algorithm>
#include <deque>

#include "base/error.h"
#include "base/text.h"

namespace tandem::onnx {

int64_t extentOf(const Dim& dim) {
  int64_t extent = 1;
  for (const Atom& atom : dim) extent *= atom.extent;
  return extent;
}

std::vector<int64_t> shapeOf(const Dims& dims) {
  std::vector<int64_t> shape;
  for (const Dim& dim : dims) shape.push_back(extentOf(dim));
  return shape;
}

Dim wholeAxis(Axis axis, int64_t extent) { return extent == 1 ? Dim() : Dim{{axis, extent, 1}}; }

Dims imageDims(int64_t images, const ImageShape& shape) {
  return {wholeAxis(Axis::image, images), wholeAxis(Axis::channel, shape.channels), wholeAxis(Axis::row, shape.height),
          wholeAxis(Axis::column, shape.width)};
}

bool isWhole(const Dim& dim, Axis axis, int64_t extent) { return dim == wholeAxis(axis, extent); }

bool isOnly(const Dim& dim, Axis axis) {
  return std::ranges::all_of(dim, [axis](const Atom& atom) { return atom.axis == axis; });
}

Dim joined(const Dim& dim) {
  Dim result;
  for (const Atom& atom : dim) {
    const bool continues =
        !result.empty() && result.back().axis == atom.axis && result.back().stride == atom.stride * atom.extent;
    if (continues) {
      result.back() = {atom.axis, result.back().extent * atom.extent, atom.stride};
    } else {
      result.push_back(atom);
    }
  }
  return result;
}

Dim atomsOf(const Dims& dims, Axis axis) {
  Dim atoms;
  for (const Dim& dim : dims) {
    std::ranges::copy_if(dim, std::back_inserter(atoms), [axis](const Atom& atom) { return atom.axis == axis; });
  }
  return joined(atoms);
}

std::optional<Dims> reshaped(const Dims& dims, std::span<const int64_t> shape) {
  std::deque<Atom> left;
  for (const Dim& dim : dims) left.insert(left.end(), dim.begin(), dim.end());
  Dims result;
  for (const int64_t wanted : shape) {
    Dim dim;
    for (int64_t rest = wanted; rest > 1;) {
      if (left.empty()) return std::nullopt;
      Atom atom = left.front();
      left.pop_front();
      if (rest % atom.extent != 0) {
        if (atom.extent % rest != 0) return std::nullopt;
        const int64_t inner = atom.extent / rest;
        left.push_front({atom.axis, inner, atom.stride});
        atom = {atom.axis, rest, atom.stride * inner};
      }
      rest /= atom.extent;
      dim.push_back(atom);
    }
    result.push_back(joined(dim));
  }
  if (!left.empty()) return std::nullopt;
  return result;
}

size_t dimensionOf(int64_t axis, size_t rank) {
  const auto size = static_cast<int64_t>(rank);
  if (axis < -size || axis >= size) throw UsageError(concat("axis ", axis, " is not one of ", rank, " dimensions"));
  return static_cast<size_t>(axis < 0 ? axis + size : axis);
}

std::vector<size_t> dimensionsOf(std::span<const int64_t> axes, size_t rank) {
  std::vector<size_t> dimensions;
  std::vector<bool> stands(rank, false);
  for (const int64_t axis : axes) {
    const size_t d = dimensionOf(axis, rank);
    if (stands[d]) throw UsageError("an axis stands twice");
    stands[d] = true;
    dimensions.push_back(d);
  }
  return dimensions;
}

}  // namespace tandem::onnx
