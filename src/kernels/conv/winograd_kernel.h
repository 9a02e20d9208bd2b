#pragma once

#include <cstdint>

#include "kernels/simd/element.h"
#include "kernels/simd/image_strides.h"
#include "kernels/simd/isa_dispatch.h"

/// Winograd's minimal filtering F(4x4, 3x3) in two dimensions (A. Lavin, S. Gray, "Fast Algorithms for Convolutional
/// Neural Networks", CVPR 2016). A tile of 4x4 results of a 3x3 convolution costs 36 products per pair of channels
/// instead of 144.
///
/// A tile is transformed into 36 points, the points are multiplied as 36 matrices, and the products are transformed
/// back. Points are fp32. Activations, weights, bias and gradients all have one `type`; a result is rounded once.
/// Channels are whole vectors (kernels/simd/isa_dispatch.h). ConvolutionKernel.EqualsAtenInDoublePrecision bounds the
/// error of each pass.
namespace tandem::winograd {

constexpr int side = 4;     ///< results of a tile in each direction
constexpr int reach = 6;    ///< inputs that they depend on, in each direction
constexpr int points = 36;  ///< reach x reach

/// 36 matrices of rows x columns, each stored in panels of columns. A panel holds all rows of its columns; the last may
/// be narrower. If panel == columns, the matrix is row-major.
struct Matrices {
  float* data;
  int64_t rows, columns, panel;
  int64_t apart;  ///< floats between two matrices
};

/// The tiles of an image, numbered row by row through all images.
struct Tiles {
  int64_t across, down;
  int64_t top, left;  ///< position of the first tile's first value: -padding
};

/// The numbers first, ..., last - 1.
struct Range {
  int64_t first, last;
};

/// Some of the tiles; tile `t` is row `t - base` of the matrices.
struct Part {
  Tiles tiles;
  int64_t base;
  Range range;
};

/// Type and order in memory of activations or their gradients.
struct Images {
  Element type;
  ImageOrder order;
};

/// Type and order in memory of weights or their gradients.
struct Weights {
  Element type;
  WeightOrder order;
};

/// A matrix product for each point: `to` [m, n] = or += `a` [m, k] x `b` [k, n]; `a` may be stored transposed.
struct Product {
  Matrices a, b, to;
  bool transposedA, add;
};

/// The functions of isa/winograd.cpp for one instruction set.
struct Kernels {
  int64_t panelColumns;  ///< most columns of a panel of a Product's `b`

  /// Transforms the 6x6 values of each tile into points; values outside the image are zero.
  void (*inputToPoints)(const void* x, const Images& images, const Part& part, const Matrices& to);
  /// Transforms the 4x4 gradients of each tile's results into points.
  void (*outputGradientToPoints)(const void* dy, const Images& images, const Part& part, const Matrices& to);
  /// Transforms points into the 4x4 results of each tile, adds bias [channels] unless null, and writes those inside.
  void (*pointsToOutput)(const Matrices& from, const void* bias, void* y, const Images& images, const Part& part);

  /// Transforms weights into points [inputs, outputs], for the given vectors of inputs. If flipped: weights turned by
  /// 180 degrees into points [outputs, inputs], for the given vectors of outputs.
  void (*weightsToPoints)(const void* values, const Weights& weights, bool flipped, Range vectors, const Matrices& to);
  /// Transforms points [inputs, outputs] into the weights' gradient, for the given vectors of inputs.
  void (*pointsToWeightGradient)(const Matrices& from, void* gradient, const Weights& weights, Range vectors);

  /// Computes the first `rows` rows of one point's product.
  void (*multiply)(const Product& product, int64_t point, int64_t rows);

  template <Isa>
  static Kernels with();
};

}  // namespace tandem::winograd
