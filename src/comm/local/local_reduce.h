#pragma once

#include <ATen/core/Tensor.h>

#include <vector>

namespace tandem {

// Between two GPUs libtorch copies on the source's stream that is current on the calling thread, its default one: after
// what out's stream holds so far, and out's stream goes on after it. So both ends are ordered with whoever follows the
// events that out's replica records then, and a copy takes turns with what the source's replica computes.

/// out = source, a replica's tensor of equal size and type.
void copyFromPeer(const at::Tensor& out, const at::Tensor& source);

/// out = sum of `sources` in the order given, in fp32, rounded once; sources on other devices are copied to out's
/// first, on the calling thread's current streams. 1-D contiguous tensors of one size and type; `out` may be a source.
void sumFromPeers(const at::Tensor& out, std::vector<at::Tensor> sources);

}  // namespace tandem
