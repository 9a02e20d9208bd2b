#include "run/plan/select_kernels.h"

#include <gtest/gtest.h>

#include "base/catalog.h"
#include "base/text.h"
#include "run/plan/kernel_selection_json.h"

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

TEST(KernelSelection, IsTheSameOnAnotherRank) {
  const auto* const gemm = &find(convolutionAlgorithms(), "gemm", "algorithm");
  KernelSelection kernels{.layout = layouts().back(), .notes = {"a note"}, .details = "details", .zeroChannels = 5};
  kernels.algorithms = {{gemm, nullptr, gemm}, {}};
  kernels.engines = {{}, {.images = 32, .names = {"eng1", "ATen", "eng3"}, .withStats = "eng4"}};
  kernels.norms = {{.images = 32, .forward = "eng5", .backward = "eng6"}};
  const KernelSelection heard = kernelSelectionFromText(toText(kernels));
  EXPECT_EQ(heard.layout.name, kernels.layout.name);
  EXPECT_EQ(heard.algorithms, kernels.algorithms);
  EXPECT_EQ(heard.engines, kernels.engines);
  EXPECT_EQ(heard.norms, kernels.norms);
  EXPECT_EQ(concat(heard.notes[0], heard.details, heard.zeroChannels), "a notedetails5");
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
