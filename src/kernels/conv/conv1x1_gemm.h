#pragma once

#include "kernels/simd/image_strides.h"
#include "kernels/simd/isa_dispatch.h"

/// A convolution with 1x1 weights is a matrix product: y[p, c] = sum over k of x[p, k] * w[k, c]. A place p is a pixel
/// of the smaller image. fp32. Channels are whole vectors (kernels/simd/isa_dispatch.h).
namespace tandem::pointwise {

/// Maps places to pixels: place (h, w) is pixel (h * strideH, w * strideW) of the same image.
struct Pixels {
  ImageOrder order;
  int64_t strideH, strideW;
};

struct Weights {
  const float* values;
  WeightOrder order;
  bool turned;  ///< true: w[k, c] is the weight of output k and input c; false: of input k and output c
};

struct Product {
  const float* x;  ///< k channels
  float* y;        ///< c channels
  Pixels from, to;
  int64_t high, wide;    ///< places of an image
  const float* weights;  ///< as written by pack()
  int64_t placesAtOnce;  ///< places whose part of x stays in the cache from one panel of weights to the next
};

/// The functions of isa/conv1x1_gemm.cpp for one instruction set.
struct Kernels {
  int64_t mostPlaces;  ///< limit of Product::placesAtOnce

  /// Packs vectors [first, last) of the columns of w into panels of columns. `to` has room for all columns.
  void (*pack)(const Weights& weights, int64_t first, int64_t last, float* to);

  /// Computes y at places [first, last), numbered through all images. The order of each sum is fixed.
  void (*multiply)(const Product& product, int64_t first, int64_t last);

  template <Isa>
  static Kernels with();
};

}  // namespace tandem::pointwise
