#pragma once

#include <ATen/core/Tensor.h>

#include <vector>

#include "device/flat_buffers.h"
#include "graph/graph.h"
#include "measure/record/equality_stamp.h"

namespace tandem {

/// Master weights on the host, [n] each, in the order of Graph::parameters(), elements in logical order.
using HostWeights = std::vector<at::Tensor>;

/// A copy of the buffers' master weights. Waits for the device.
HostWeights weightsOf(const Graph& graph, const FlatBuffers& buffers);

/// The norm of the change from `start` to `end`, over all parameters.
double changeNorm(const HostWeights& end, const HostWeights& start);

/// The error of `weights` after steps that lead from `start` to `reference`. A parameter that the reference does not
/// move counts in `whole` only: its mean square change is below 1e-12 of that of all. A number that is not finite makes
/// the error infinite. REQUIRES: changeNorm(reference, start) is above 0.
ChangeError changeError(const Graph& graph, const HostWeights& weights, const HostWeights& reference,
                        const HostWeights& start);

/// Whether all weights are the same bits. REQUIRES: equal shapes and types.
bool bitEqual(const HostWeights& a, const HostWeights& b);

}  // namespace tandem
