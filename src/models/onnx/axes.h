#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "graph/shape.h"

/// How the dimensions of a tensor in a model of ONNX follow from the axes of a value of a graph: images, channels, rows
/// and columns. Reshape and Transpose change this description alone, so that layouts such as [N, H, W, C], heads of
/// attention and groups of channels need no operation.
namespace tandem::onnx {

enum class Axis { image, channel, row, column };

/// A part of an axis: `extent` steps, each `stride` apart.
struct Atom {
  Axis axis = Axis::image;
  int64_t extent = 1, stride = 1;
  bool operator==(const Atom&) const = default;
};

/// A dimension: its atoms, outermost first. One of size 1 has none.
using Dim = std::vector<Atom>;
using Dims = std::vector<Dim>;

int64_t extentOf(const Dim& dim);
std::vector<int64_t> shapeOf(const Dims& dims);

/// The whole axis as a dimension; empty for an extent of 1.
Dim wholeAxis(Axis axis, int64_t extent);

/// [N, C, H, W].
Dims imageDims(int64_t images, const ImageShape& shape);

/// Whether the dimension is the whole axis.
bool isWhole(const Dim& dim, Axis axis, int64_t extent);

/// Whether the dimension has atoms of the axis alone. An empty one has.
bool isOnly(const Dim& dim, Axis axis);

/// The atoms of an axis in all dimensions, in order; neighbours that continue each other are one.
Dim atomsOf(const Dims& dims, Axis axis);

/// Joins neighbours that continue each other.
Dim joined(const Dim& dim);

/// The dimensions in another shape of as many elements. Empty if that would split an axis unevenly.
std::optional<Dims> reshaped(const Dims& dims, std::span<const int64_t> shape);

/// A dimension counted from the front. Throws UsageError if it is not within the rank.
size_t dimensionOf(int64_t axis, size_t rank);
/// The same of several axes, which must be different dimensions.
std::vector<size_t> dimensionsOf(std::span<const int64_t> axes, size_t rank);

}  // namespace tandem::onnx
