#pragma once

#include "kernels/simd/image_strides.h"
#include "kernels/simd/isa_dispatch.h"

/// A convolution with 1x1 weights is a product of matrices: y[p, c] = sum over k of x[p, k] * w[k, c], where a place p
/// is a pixel of the smaller image. fp32. Channels are whole vectors (kernels/simd/isa_dispatch.h).
namespace tandem::pointwise {

/// The pixels that belong to places: pixel (h * strideH, w * strideW) to place (h, w) of the same image.
struct Pixels {
  ImageOrder order;
  int64_t strideH, strideW;
};

struct Weights {
  const float* values;
  WeightOrder order;
  bool turned;  ///< w[k, c] is the weight of output k and input c, else of input k and output c
};

struct Product {
  const float* x;  ///< k channels
  float* y;        ///< c channels
  Pixels from, to;
  int64_t high, wide;    ///< places of an image
  const float* weights;  ///< as pack() leaves them
  int64_t placesAtOnce;  ///< whose part of x stays in the cache from one panel of weights to the next
};

/// What pointwise_lanes.cpp computes with each kind of vectors.
struct Kernels {
  int64_t mostPlaces;  ///< of Product::placesAtOnce

  /// Isa [first, last) of the columns of w, as panels of columns. `to` has room for all of them.
  void (*pack)(const Weights& weights, int64_t first, int64_t last, float* to);

  /// y at places [first, last), numbered through all images. Each value is summed in one order.
  void (*multiply)(const Product& product, int64_t first, int64_t last);

  template <Isa>
  static Kernels with();
};

}  // namespace tandem::pointwise
