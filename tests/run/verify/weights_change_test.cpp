#include "run/verify/weights_change.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <cmath>

namespace tandem {
namespace {

/// "a" and "b", linear layers with one weight each.
Graph twoLayers() {
  Graph graph({1, 1, 1});
  const NodeId a =
      graph.add("linear", "a", {graph.add("flatten", "flat", {graph.input()})}, {.outputs = 1, .bias = false});
  graph.add("linear", "b", {a}, {.outputs = 1, .bias = false});
  return graph;
}

HostWeights weights(double a, double b) { return {at::full({1}, a, at::kDouble), at::full({1}, b, at::kDouble)}; }

TEST(ChangeError, IsRelativeToTheReferencesChange) {
  const Graph graph = twoLayers();
  const HostWeights start = weights(10, 20), reference = weights(13, 24);
  EXPECT_DOUBLE_EQ(changeNorm(reference, start), 5);
  const ChangeError error = changeError(graph, weights(13.03, 24.04), reference, start);
  EXPECT_NEAR(error.whole, 0.01, 1e-12);
  EXPECT_NEAR(changeError(graph, weights(13, 24.05), reference, start).whole, 0.01, 1e-12);
}

TEST(ChangeError, TheWorstParameterHasTheLargestErrorOfItsOwnChange) {
  const Graph graph = twoLayers();
  const ChangeError error = changeError(graph, weights(10.3, 24.04), weights(10.2, 24), weights(10, 20));
  EXPECT_EQ(error.where, "a.weight");
  EXPECT_NEAR(error.worst, 0.5, 1e-12);
}

// The exact gradient of a bias before a batch-norm is 0: whatever rounding makes of it has no relation to that.
TEST(ChangeError, AParameterThatTheReferenceDoesNotMoveCountsInTheWholeOnly) {
  const Graph graph = twoLayers();
  const ChangeError error = changeError(graph, weights(10.1, 24), weights(10 + 1e-14, 24), weights(10, 20));
  EXPECT_EQ(error.where, "b.weight");
  EXPECT_EQ(error.worst, 0);
  EXPECT_NEAR(error.whole, 0.1 / 4, 1e-12);
}

TEST(ChangeError, WhatIsNoNumberIsInfinitelyFar) {
  const Graph graph = twoLayers();
  const ChangeError error = changeError(graph, weights(std::nan(""), 24), weights(13, 24), weights(10, 20));
  EXPECT_TRUE(std::isinf(error.whole));
  EXPECT_TRUE(std::isinf(error.worst));
  EXPECT_EQ(error.where, "a.weight");
}

TEST(BitEqual, IsOfBitsNotOfValues) {
  EXPECT_TRUE(bitEqual(weights(0, 1), weights(0, 1)));
  EXPECT_FALSE(bitEqual(weights(0, 1), weights(-0.0, 1)));
  EXPECT_FALSE(bitEqual(weights(1, 1), weights(1, std::nextafter(1, 2))));
}

}  // namespace
}  // namespace tandem
