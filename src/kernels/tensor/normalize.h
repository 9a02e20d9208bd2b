#pragma once

#include <ATen/core/Tensor.h>

#include <array>

namespace tandem {

/// Per channel, in units of the byte values: normalised = (byte - mean) / deviation.
struct Normalization {
  std::array<float, 3> mean{127.5F, 127.5F, 127.5F};
  std::array<float, 3> deviation{73.9F, 73.9F, 73.9F};
};

/// bytes [N, H, W, C] uint8, contiguous, C is 1 or 3 -> out [N, K, H, W], K >= C, float, bfloat16 or half in its own
/// memory format, in one pass; channels beyond C become zeros. Both on the same device; on CUDA it is enqueued on the
/// current stream.
void normalize(const at::Tensor& bytes, const Normalization& normalization, at::Tensor& out);

/// The same by ATen operations, with as many channels as `like`: the oracle of the tests.
at::Tensor normalizeReference(const at::Tensor& bytes, const Normalization& normalization, const at::Tensor& like);

}  // namespace tandem
