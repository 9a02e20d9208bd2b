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
  KernelSelection kernels{&layouts().front(), {}, ""};
  EXPECT_EQ(passesOf(kernels, graph), Passes{});
  kernels.algorithms.assign(graph.nodes().size(), {direct, direct, gemm});
  EXPECT_EQ(passesOf(kernels, graph), (Passes{{"direct", 3}, {"gemm", 2}})) << "nobody asks for the images' gradient";
}

TEST(PassesOf, TellsCudnnsEnginesFromAten) {
  const Graph graph = twoConvolutions();
  KernelSelection kernels{&layouts().front(), {}, ""};
  kernels.engines.assign(graph.nodes().size(), {2, {"ATen", "ATen", "eng1"}});
  EXPECT_EQ(passesOf(kernels, graph), (Passes{{"ATen", 3}, {"cuDNN", 2}}));
  kernels.engines.back().withStats = concat("eng2");
  EXPECT_EQ(passesOf(kernels, graph), (Passes{{"ATen", 2}, {"cuDNN", 2}, {"cuDNN with sums", 1}}));
}

TEST(KernelSelection, AreAllToldToTheExecutor) {
  KernelSelection kernels{&find(layouts(), "blocked", "layout"), {}};
  kernels.algorithms.resize(1), kernels.engines.resize(2), kernels.norms.resize(3);
  kernels.zeroChannels = 5;
  const ExecutorOptions options = executorOptions(kernels, find(precisions(), "bf16", "precision"),
                                                  find(recomputes(), "segments", "--recompute"), at::kCUDA);
  EXPECT_EQ(options.compute, at::kBFloat16);
  EXPECT_EQ(options.layout.name, "blocked");
  EXPECT_EQ(options.algorithms.size(), 1U);
  EXPECT_EQ(options.engines.size(), 2U);
  EXPECT_EQ(options.norms.size(), 3U);
  EXPECT_TRUE(options.device.is_cuda());
  EXPECT_EQ(options.recompute.name, "segments");
  EXPECT_EQ(options.zeroChannels, 5);
}

}  // namespace
}  // namespace tandem
