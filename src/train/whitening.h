#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "graph/graph.h"

namespace tandem {

/// Weights of whitening convolutions by name, fp32 on the host.
using WhiteningWeights = std::vector<std::pair<std::string, at::Tensor>>;

/// The weight of a convolution whose outputs are uncorrelated on such images (Keller Jordan 2024, "94% on CIFAR-10 in
/// 3.29 seconds on a single GPU", arXiv:2404.00498). It is [2 n, C, kernelH, kernelW], for windows of
/// n = C * kernelH * kernelW numbers: the eigenvectors of the mean of the windows' outer products, from the largest
/// eigenvalue l on, each over sqrt(l + 5e-4); then their negatives.
class Whitening {
 public:
  Whitening(int64_t kernelH, int64_t kernelW) : kernelH_(kernelH), kernelW_(kernelW) {}

  /// Counts all windows of images [N, C, H, W] in floating point, normalised as the network reads them.
  void add(const at::Tensor& images);
  /// [2 n, C, kernelH, kernelW] fp32. REQUIRES: add() was called.
  at::Tensor weight() const;

 private:
  const int64_t kernelH_, kernelW_;
  int64_t channels_ = 0, windows_ = 0;
  at::Tensor products_;  // [n, n] fp64: the sum of the windows' outer products
};

/// The whitening convolutions of a network, in its order. Throws UsageError for one that does not read the images.
std::vector<NodeId> whiteningNodes(const Graph& graph);

}  // namespace tandem
