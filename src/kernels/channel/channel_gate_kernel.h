#pragma once

#include <cstdint>

#include "kernels/simd/element.h"
#include "kernels/simd/isa_dispatch.h"

namespace tandem {

/// The `rows` pixels of one image with `columns` channels each, which lie side by side.
struct PixelRows {
  Element type;
  int64_t rows, columns;
};

/// The functions of isa/channel_gate.cpp for one instruction set. Each handles one image; sums and gates are fp32, one
/// per column.
struct ChannelKernels {
  void (*sums)(const PixelRows& shape, const void* x, float* sums);

  /// Writes gradient * gate to `dx`, which may be `gradient`, and the sums of gradient * x.
  void (*productGradients)(const PixelRows& shape, const void* gradient, const void* x, const float* gate, void* dx,
                           float* sums);

  template <Isa>
  static ChannelKernels with();
};

}  // namespace tandem
