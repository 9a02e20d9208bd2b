#include "run/plan/select_kernels.h"

#include <gtest/gtest.h>

#include "base/catalog.h"
#include "base/text.h"

namespace tandem {
namespace {

/// A convolution of the images, then another one.
Graph twoConvolutions() {
  Graph graph({3, 8, 8});
  graph.add("conv", "b", {graph.add("conv", "a", {graph.input()}, {.outputs = 4})}, {.outputs = 4});
  return graph;
}

using Passes = std::map<std::string, int64_t>;

TEST(PassesOf, CountsWhatATrainingStepComputes) {
  const Graph graph = twoConvolutions();
  const auto* const direct = &convolutionAlgorithms().front();
  const auto* const gemm = &find(convolutionAlgorithms(), "gemm", "algorithm");
  KernelSelection kernels{layouts().front()};
  EXPECT_EQ(passesOf(kernels, graph), Passes{});
  kernels.algorithms.assign(graph.nodes().size(), {direct, direct, gemm});
  EXPECT_EQ(passesOf(kernels, graph), (Passes{{"direct", 3}, {"gemm", 2}})) << "nobody asks for the images' gradient";
}

TEST(PassesOf, TellsCudnnsEnginesFromAten) {
  const Graph graph = twoConvolutions();
  KernelSelection kernels{layouts().front()};
  kernels.engines.assign(graph.nodes().size(), {2, {"ATen", "ATen", "eng1"}});
  EXPECT_EQ(passesOf(kernels, graph), (Passes{{"ATen", 3}, {"cuDNN", 2}}));
  kernels.engines.back().withStats = concat("eng2");
  EXPECT_EQ(passesOf(kernels, graph), (Passes{{"ATen", 2}, {"cuDNN", 2}, {"cuDNN with sums", 1}}));
}

TEST(KernelSelection, GivesEachNodeItsOwn) {
  const auto* const gemm = &find(convolutionAlgorithms(), "gemm", "algorithm");
  KernelSelection kernels;
  EXPECT_EQ(kernels.algorithmsOf(1), PassAlgorithms{}) << "direct";
  EXPECT_EQ(kernels.normsOf(1).images, 0);
  kernels.algorithms.resize(3);
  kernels.algorithms[1] = {nullptr, nullptr, gemm};
  kernels.engines.resize(3);
  kernels.engines[2].images = 4;
  EXPECT_EQ(kernels.algorithmsOf(1)[2], gemm);
  EXPECT_EQ(kernels.algorithmsOf(2), PassAlgorithms{});
  EXPECT_EQ(kernels.enginesOf(2).images, 4);
}

}  // namespace
}  // namespace tandem
