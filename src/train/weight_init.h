#pragma once

#include <cstdint>

#include "device/flat_buffers.h"
#include "graph/graph.h"

namespace tandem {

/// Sets the master weights. They depend on the seed and the parameter alone (name, role, shape), so they are the same
/// on every device and in every layout. Weights of convolutions are normal with variance 2 / fan-in (He et al. 2015,
/// arXiv:1502.01852), those of linear layers with variance 1 / fan-in. Embeddings are normal with standard deviation
/// 0.02. Scales of normalisations are 1, layer scales 1e-6, all other parameters 0.
void initialiseWeights(const Graph& graph, uint64_t seed, FlatBuffers& buffers);

/// 64-bit FNV-1a hash of the bytes of all master weights: parameters in the graph's order, elements in logical order.
/// Waits for the device.
uint64_t weightsFingerprint(const Graph& graph, const FlatBuffers& buffers);

}  // namespace tandem
