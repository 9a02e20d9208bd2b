#pragma once

#include <cstdint>

#include "kernels/simd/element.h"
#include "kernels/simd/image_strides.h"
#include "kernels/simd/isa_dispatch.h"

/// Winograd's minimal filtering F(4x4, 3x3) in two dimensions (A. Lavin, S. Gray, "Fast Algorithms for Convolutional
/// Neural Networks", CVPR 2016): a tile of 4x4 results of a 3x3 convolution costs 36 products per pair of channels
/// instead of 144. A tile is brought into 36 points, the points are multiplied as 36 matrices, the results brought
/// back. Points are fp32; activations, weights, bias and gradients are all of one `type`, a result rounded once.
/// Channels are whole vectors (kernels/simd/isa_dispatch.h).
namespace tandem::winograd {

constexpr int side = 4;     ///< results of a tile in each direction
constexpr int reach = 6;    ///< values that they depend on
constexpr int points = 36;  ///< reach x reach

/// 36 matrices of rows x columns, each in panels of columns: a panel holds all rows of its columns, the last may be
/// narrower. With panel == columns it is an ordinary row-major matrix.
struct Matrices {
  float* data;
  int64_t rows, columns, panel;
  int64_t apart;  ///< floats from one matrix to the next
};

/// The tiles of an image; those of all images are numbered along its rows.
struct Tiles {
  int64_t across, down;
  int64_t top, left;  ///< of the first tile's first value: -padding
};

/// From `first` to before `last`.
struct Range {
  int64_t first, last;
};

/// Some of the tiles; tile `t` is row `t - base` of the matrices.
struct Part {
  Tiles tiles;
  int64_t base;
  Range range;
};

/// Of activations, or their gradients, in memory.
struct Images {
  Element type;
  ImageOrder order;
};

/// Of weights, or their gradients, in memory.
struct Weights {
  Element type;
  WeightOrder order;
};

/// A product of two of the matrices per point: `to` [m, n] = or += `a` [m, k] x `b` [k, n]; `a` may lie transposed.
struct Product {
  Matrices a, b, to;
  bool transposedA, add;
};

/// What winograd_lanes.cpp computes with each kind of vectors.
struct Kernels {
  int64_t panelColumns;  ///< of a Product's `b`, at most

  /// 6x6 values of each tile, zero outside the image, into points.
  void (*inputToPoints)(const void* x, const Images& images, const Part& part, const Matrices& to);
  /// The 4x4 gradients of each tile's results into points.
  void (*outputGradientToPoints)(const void* dy, const Images& images, const Part& part, const Matrices& to);
  /// Points to the 4x4 results of each tile, those inside the image; bias [channels] or null is added.
  void (*pointsToOutput)(const Matrices& from, const void* bias, void* y, const Images& images, const Part& part);

  /// Weights into points [inputs, outputs], for some vectors of inputs; or, flipped, [outputs, inputs] of the weights
  /// turned by 180 degrees, for some vectors of outputs.
  void (*weightsToPoints)(const void* values, const Weights& weights, bool flipped, Range vectors, const Matrices& to);
  /// Points [inputs, outputs] to the gradient of the weights, for some vectors of inputs.
  void (*pointsToWeightGradient)(const Matrices& from, void* gradient, const Weights& weights, Range vectors);

  /// The first `rows` rows of one point's product.
  void (*multiply)(const Product& product, int64_t point, int64_t rows);

  template <Isa>
  static Kernels with();
};

}  // namespace tandem::winograd
