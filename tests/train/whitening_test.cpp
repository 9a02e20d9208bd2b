#include "train/whitening.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include "base/error.h"

namespace tandem {
namespace {

/// Images whose neighbouring pixels and channels are alike.
at::Tensor smoothImages(int64_t count) {
  at::manual_seed(3);
  const at::Tensor noise = at::randn({count, 3, 12, 12});
  return at::avg_pool2d(noise, {3, 3}, {1, 1}) + noise.mean(1, true).narrow(2, 1, 10).narrow(3, 1, 10);
}

TEST(Whitening, OutputsAreUncorrelatedAndOfOneSize) {
  const at::Tensor images = smoothImages(200);
  Whitening whitening(2, 2);
  whitening.add(images.narrow(0, 0, 50));
  whitening.add(images.narrow(0, 50, 150));
  const at::Tensor weight = whitening.weight();
  ASSERT_EQ(weight.sizes(), (at::IntArrayRef{24, 3, 2, 2}));
  EXPECT_TRUE(at::equal(weight.narrow(0, 12, 12), -weight.narrow(0, 0, 12)));
  const at::Tensor outputs = at::conv2d(images, weight.narrow(0, 0, 12)).permute({1, 0, 2, 3}).reshape({12, -1});
  const at::Tensor products = outputs.mm(outputs.t()) / outputs.size(1);
  const at::Tensor sizes = products.diagonal();
  EXPECT_LT((products - sizes.diag()).abs().max().item<double>(), 1e-4);
  EXPECT_GT(sizes.min().item<double>(), 0.9) << "eigenvalue over eigenvalue + 5e-4";
  EXPECT_LT(sizes.max().item<double>(), 1.0001);
  const at::Tensor lengths = weight.narrow(0, 0, 12).flatten(1).norm(2, 1);
  EXPECT_TRUE((lengths.slice(0, 1) >= lengths.slice(0, 0, 11)).all().item<bool>()) << "the largest eigenvalue first";
}

TEST(Whitening, IsForAConvolutionThatReadsTheImages) {
  Graph graph({3, 8, 8});
  const NodeId first = graph.add("conv", "white", {graph.input()}, {.outputs = 6, .whitening = true});
  EXPECT_EQ(whiteningNodes(graph), std::vector<NodeId>{first});
  graph.add("conv", "second", {first}, {.outputs = 12, .whitening = true});
  EXPECT_THROW(whiteningNodes(graph), UsageError);
  EXPECT_THROW(graph.add("conv", "third", {graph.input()}, {.outputs = 7, .whitening = true}), UsageError);
  EXPECT_THROW(graph.add("conv", "fourth", {graph.input()}, {.outputs = 7, .gain = -1}), UsageError);
}

}  // namespace
}  // namespace tandem
