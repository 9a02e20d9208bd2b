#pragma once

#include <cstdint>

#include "device/flat_buffers.h"
#include "graph/graph.h"
#include "train/whitening.h"

namespace tandem {

/// Sets the master weights. Those of `whitening` are given. The others depend on the seed and the parameter alone
/// (name, role, shape, attributes of its node), so they are the same on every device and in every layout. Weights are
/// normal with variance gain / fan-in, where the gain is that of the node's attributes, or 2 for convolutions (He et
/// al. 2015, arXiv:1502.01852) and 1 for linear layers. With Attributes::identity the first outputs are copies of the
/// inputs. Embeddings are normal with standard deviation 0.02. Scales of normalisations are 1, layer scales 1e-6, all
/// other parameters 0.
void initialiseWeights(const Graph& graph, uint64_t seed, const WhiteningWeights& whitening, FlatBuffers& buffers);

/// 64-bit FNV-1a hash of the bytes of all master weights: parameters in the graph's order, elements in logical order.
/// Waits for the device.
uint64_t weightsFingerprint(const Graph& graph, const FlatBuffers& buffers);

}  // namespace tandem
