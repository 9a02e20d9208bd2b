#include "train/whitening.h"

#include <ATen/ATen.h>

#include "base/error.h"
#include "base/text.h"

namespace tandem {
namespace {

constexpr double smallest = 5e-4;  // added to eigenvalues; of the source

}  // namespace

void Whitening::add(const at::Tensor& images) {
  channels_ = images.size(1);
  const at::Tensor windows = images.to(at::kDouble)
                                 .unfold(2, kernelH_, 1)
                                 .unfold(3, kernelW_, 1)
                                 .permute({0, 2, 3, 1, 4, 5})
                                 .reshape({-1, channels_ * kernelH_ * kernelW_});
  const at::Tensor products = windows.t().mm(windows);
  products_ = products_.defined() ? products_ + products : products;
  windows_ += windows.size(0);
}

at::Tensor Whitening::weight() const {
  check(windows_ > 0, "whitening needs images");
  const auto [values, vectors] = at::linalg_eigh(products_ / static_cast<double>(windows_));  // values rise
  const at::Tensor scaled = (vectors / (values + smallest).sqrt()).t().flip(0);
  return at::cat({scaled, -scaled}).reshape({-1, channels_, kernelH_, kernelW_}).to(at::kFloat);
}

std::vector<NodeId> whiteningNodes(const Graph& graph) {
  std::vector<NodeId> nodes;
  for (NodeId id = 0; id < std::ssize(graph.nodes()); ++id) {
    const Node& node = graph.node(id);
    if (!node.attributes.whitening) continue;
    if (node.inputs.front() != graph.input()) {
      throw UsageError(concat("node '", node.name,
                              "': whitening is for a convolution that reads the images, and this one reads '",
                              graph.node(node.inputs.front()).name, "'"));
    }
    nodes.push_back(id);
  }
  return nodes;
}

}  // namespace tandem
