#pragma once

#include <cstdint>

#include "kernels/element.h"
#include "kernels/image_order.h"
#include "kernels/lanes.h"

/// Winograd's minimal filtering F(4x4, 3x3) in two dimensions (A. Lavin, S. Gray, "Fast Algorithms for Convolutional
/// Neural Networks", CVPR 2016): a tile of 4x4 results of a 3x3 convolution costs 36 products per pair of channels
/// instead of 144. A tile is brought into 36 points, the points are multiplied as 36 matrices, the results brought
/// back. Points are fp32; activations, weights, bias and gradients are all of one `type`, a result rounded once.
/// Channels are whole vectors (kernels/lanes.h).
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

/// Tiles [first, last); tile `t` is row `t - base` of the matrices.
struct Part {
  int64_t base, first, last;
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
  void (*inputToPoints)(Element type, const void* x, const ImageOrder& order, const Tiles& tiles, const Part& part,
                        const Matrices& to);
  /// The 4x4 gradients of each tile's results into points.
  void (*outputGradientToPoints)(Element type, const void* dy, const ImageOrder& order, const Tiles& tiles,
                                 const Part& part, const Matrices& to);
  /// Points to the 4x4 results of each tile, those inside the image; bias [channels] or null is added.
  void (*pointsToOutput)(Element type, const Matrices& from, const void* bias, const ImageOrder& order,
                         const Tiles& tiles, const Part& part, void* y);

  /// Weights into points [inputs, outputs], for vectors [first, last) of inputs; or, flipped, [outputs, inputs] of the
  /// weights turned by 180 degrees, for such vectors of outputs.
  void (*weightsToPoints)(Element type, const void* weights, const WeightOrder& order, bool flipped, int64_t first,
                          int64_t last, const Matrices& to);
  /// Points [inputs, outputs] to the gradient of the weights, for vectors [first, last) of inputs.
  void (*pointsToWeightGradient)(Element type, const Matrices& from, const WeightOrder& order, int64_t first,
                                 int64_t last, void* gradient);

  /// The first `rows` rows of one point's product.
  void (*multiply)(const Product& product, int64_t point, int64_t rows);

  template <Vectors>
  static Kernels with();
};

}  // namespace tandem::winograd
