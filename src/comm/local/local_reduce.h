#pragma once

#include <ATen/core/Tensor.h>

#include <vector>

namespace tandem {

// Between two GPUs libtorch copies on the source device's current stream of the calling thread, the default one. The
// copy comes after the work on out's stream so far, and out's stream continues after it. The copy is therefore ordered
// on both streams; it serialises with the source replica's own kernels.

/// out = source, a tensor of equal size and type of another replica.
void copyFromPeer(const at::Tensor& out, const at::Tensor& source);

/// out = sum of `sources` in the given order, in fp32, rounded once. Sources on other devices are first copied to out's
/// device, on the calling thread's current streams. 1-D contiguous tensors of one size and type; `out` may be a source.
void sumFromPeers(const at::Tensor& out, std::vector<at::Tensor> sources);

}  // namespace tandem
