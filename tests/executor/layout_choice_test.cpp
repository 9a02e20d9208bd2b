#include "executor/layout_choice.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>

#include "base/text.h"
#include "kernels/convolution.h"

namespace tandem {
namespace {

constexpr LayoutTrial trial{.compute = at::kFloat, .images = 2, .machine = "this one"};

Graph twoConvolutions() {
  Graph graph({3, 8, 8});
  const auto conv = [&](const char* name, NodeId from) {
    return graph.add("conv", name, {from}, {.outputs = 16, .kernelH = 3, .kernelW = 3, .padding = Padding::all(1)});
  };
  conv("b", conv("a", graph.input()));
  return graph;
}

class LayoutChoiceTest : public testing::Test {
 protected:
  void SetUp() override {
    if (convolutionLibrary().empty()) GTEST_SKIP() << "a build without oneDNN";
  }
};

TEST_F(LayoutChoiceTest, MeasuresEachLayerOnce) {
  MeasuredCache cache{{}};
  const Graph graph = twoConvolutions();
  EXPECT_FALSE(fastestLayout(graph, trial, cache).fromCache);
  EXPECT_TRUE(fastestLayout(graph, trial, cache).fromCache);
  LayoutTrial other = trial;
  other.machine = "another one";
  EXPECT_FALSE(fastestLayout(graph, other, cache).fromCache);
  other.machine = trial.machine, other.compute = at::kBFloat16;
  EXPECT_FALSE(fastestLayout(graph, other, cache).fromCache);
}

/// Puts other seconds behind every key of a cache's file.
void rewrite(const std::filesystem::path& file, const std::string& seconds) {
  std::ifstream in(file);
  std::string text;
  for (std::string line; std::getline(in, line);) text += line.substr(0, line.find('\t')) + '\t' + seconds + '\n';
  std::ofstream(file) << text;
}

TEST_F(LayoutChoiceTest, AnotherThanNhwcMustWinByMoreThanThreePercent) {
  const Graph graph = twoConvolutions();
  const auto file = std::filesystem::temp_directory_path() / concat("tandem-layouts-", getpid());
  struct Row {
    const char *seconds, *layout;
    double gain;
  };
  for (const Row& row : {Row{"1 0.5", "blocked", 2}, Row{"1 0.98", "nhwc", 1}, Row{"1 1.5", "nhwc", 1}}) {
    MeasuredCache fresh(file);
    fastestLayout(graph, trial, fresh);
    rewrite(file, row.seconds);
    MeasuredCache cache(file);
    const LayoutChoice choice = fastestLayout(graph, trial, cache);
    EXPECT_TRUE(choice.fromCache);
    EXPECT_EQ(choice.layout->name, row.layout) << row.seconds;
    EXPECT_DOUBLE_EQ(choice.gain, row.gain) << row.seconds;
  }
  std::filesystem::remove(file);
}

}  // namespace
}  // namespace tandem
