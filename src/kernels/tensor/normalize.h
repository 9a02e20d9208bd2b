#pragma once

#include <ATen/core/Tensor.h>

#include <array>

namespace tandem {

/// Per channel, in units of byte values: normalised = (byte - mean) / deviation.
struct Normalization {
  std::array<float, 3> mean{127.5F, 127.5F, 127.5F};
  std::array<float, 3> deviation{73.9F, 73.9F, 73.9F};
};

/// Writes bytes [N, H, W, C] uint8, contiguous, C 1 or 3, to `out` [N, K, H, W], K >= C, in one pass. `out` is float,
/// bfloat16 or half, in its own memory format; its channels beyond C become zeros. Both lie on the same device. On CUDA
/// the work is enqueued on the current stream.
void normalize(const at::Tensor& bytes, const Normalization& normalization, at::Tensor& out);

/// The same with ATen operations and as many channels as `like`: the oracle of the tests.
at::Tensor normalizeReference(const at::Tensor& bytes, const Normalization& normalization, const at::Tensor& like);

}  // namespace tandem
