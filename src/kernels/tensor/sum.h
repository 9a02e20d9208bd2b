#pragma once

#include <ATen/core/Tensor.h>

#include <span>

namespace tandem {

/// out[i] = sum over sources of source[i], added in the given order in fp32, rounded once. All are 1-D contiguous, of
/// one type (float, bfloat16 or half), on one device. `out` may be a source. REQUIRES: 1 to 64 sources.
void sumInto(at::Tensor out, std::span<const at::Tensor> sources);

/// The same with ATen operations: the oracle of the tests.
void sumIntoReference(at::Tensor out, std::span<const at::Tensor> sources);

}  // namespace tandem
