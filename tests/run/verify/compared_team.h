#pragma once

#include <thread>

#include "run/equivalence_cases.h"
#include "run/verify/comparison_in_fp64.h"

namespace tandem::equivalence {

/// With batch-norm, so that a replica's images influence each other.
inline Graph normNet() {
  Graph net({3, imageSize, imageSize});
  NodeId x = net.add("conv", "conv1", {net.input()}, conv3x3(8, false));
  x = net.add("relu", "relu1", {net.add("batch_norm", "bn1", {x})});
  x = net.add("conv", "conv2", {net.add("max_pool", "pool", {x}, pool2x2())}, conv3x3(16, true));
  x = net.add("flatten", "flatten", {net.add("relu", "relu2", {x})});
  net.add("linear", "fc", {x}, {.outputs = classes});
  return net;
}

inline EqualityStamp stampOf(const ReplicaSetOptions& options, const Graph& graph, const Mixing& mixing = {}) {
  const int threads = static_cast<int>(options.devices.size());
  return compareInFp64({.options = options,
                        .batches = makerOf(0, globalBatch, labelsOf(graph)),
                        .source = find(sources(), "host", "input"),
                        .mixing = mixing,
                        .device = Device::cpu(0, {}, threads)});
}

inline EqualityStamp stampOf(const Case& c) { return stampOf(replicaSetOptions(c), *c.graph, c.mixing); }

}  // namespace tandem::equivalence
