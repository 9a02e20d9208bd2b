#pragma once

#include <cstdint>

#include "device/flat_buffers.h"
#include "graph/graph.h"

namespace tandem {

/// Sets the master weights from (seed, parameter name) alone: convolutions normal with variance 2 / fan-in (He et al.
/// 2015), linear layers 1 / fan-in, embeddings normal with deviation 0.02, scales of norms 1, of layers 1e-6, the rest
/// 0. The same on every device and in every layout.
void initialiseWeights(const Graph& graph, uint64_t seed, FlatBuffers& buffers);

/// 64-bit FNV-1a over the bytes of all master weights, in the graph's parameter order and logical element order.
uint64_t weightsFingerprint(const Graph& graph, const FlatBuffers& buffers);

}  // namespace tandem
