#include "executor/select/cpu_kernels.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cmath>
#include <fstream>

#include "base/catalog.h"
#include "base/text.h"
#include "executor/select/changed_measurements.h"

namespace tandem {
namespace {

/// "a", 3 -> 16 channels, which only the direct algorithm serves; "b", 16 -> 16.
Graph twoConvolutions() {
  Graph graph({3, 8, 8});
  const auto conv = [&](const char* name, NodeId from) {
    return graph.add("conv", name, {from}, {.outputs = 16, .kernelH = 3, .kernelW = 3, .padding = Padding::all(1)});
  };
  conv("b", conv("a", graph.input()));
  return graph;
}

const LayoutEntry* layout(const char* name) { return &find(layouts(), name, "layout"); }
const ConvolutionAlgorithm* algorithm(const char* name) { return &find(convolutionAlgorithms(), name, "algorithm"); }

class KernelChoiceTest : public testing::Test {
 protected:
  KernelChoiceTest() : file_(std::filesystem::temp_directory_path() / concat("tandem-kernels-", getpid())) {
    trial_.images = 2;
    trial_.machine = "this one";
    trial_.layouts = {layout("nhwc"), layout("blocked")};
    trial_.algorithms = {algorithm("direct"), algorithm("winograd")};
  }
  ~KernelChoiceTest() override { std::filesystem::remove(file_); }
  void SetUp() override {
    if (convolutionLibrary().empty()) GTEST_SKIP() << "a build without oneDNN";
  }

  /// The choice when every measurement that holds `words[i]` in its key came out as `seconds[i]`, the others as 1.
  CpuKernelChoice choiceIf(const std::vector<std::pair<std::string, std::string>>& seconds) {
    TimingCache fresh(file_);
    fastestCpuKernels(graph_, trial_, threads_, fresh);
    changeMeasurements(file_, [&](const std::string& line) {
      std::string numbers = line.starts_with("batch_norm") ? "1" : "1 1 1 1 1 1";
      for (const auto& row : seconds) {
        if (line.find(row.first) != std::string::npos) numbers = row.second;
      }
      return numbers;
    });
    TimingCache cache(file_);
    return fastestCpuKernels(graph_, trial_, threads_, cache);
  }

  Graph graph_ = twoConvolutions();
  CpuKernelTrial trial_;
  DeviceThreads threads_{{Device::cpu(0, {}, 1), Device::cpu(1, {}, 1)}};
  std::filesystem::path file_;
};

TEST_F(KernelChoiceTest, MeasuresEachLayerOnce) {
  TimingCache cache{{}};
  const Graph graph = twoConvolutions();
  EXPECT_FALSE(fastestCpuKernels(graph, trial_, threads_, cache).fromCache);
  EXPECT_TRUE(fastestCpuKernels(graph, trial_, threads_, cache).fromCache);
  CpuKernelTrial other = trial_;
  other.machine = "another one";
  EXPECT_FALSE(fastestCpuKernels(graph, other, threads_, cache).fromCache);
  other.machine = trial_.machine, other.compute = at::kBFloat16;
  EXPECT_FALSE(fastestCpuKernels(graph, other, threads_, cache).fromCache);
  other.compute = trial_.compute, other.layouts.pop_back();
  EXPECT_TRUE(fastestCpuKernels(graph, other, threads_, cache).fromCache);
}

// A cache may hold anything.
TEST_F(KernelChoiceTest, TimesThatCannotBeTrueAreMeasuredAnew) {
  EXPECT_TRUE(choiceIf({{"winograd", "1 1 1 1 1 1"}}).fromCache);
  for (const char* const seconds : {"0 1 1 1 1 1", "1 -1 1 1 1 1", "1 1 1e308 1 1 1"}) {
    EXPECT_FALSE(choiceIf({{"winograd", seconds}}).fromCache) << seconds;
  }
}

// Of gemm alone every pass counts for its layout, of gemm beside direct only the one that is not direct's.
TEST_F(KernelChoiceTest, WhatWasMeasuredOfAnAlgorithmsOwnPassesIsNotTakenForAll) {
  trial_.layouts.pop_back();
  trial_.algorithms = {algorithm("direct"), algorithm("gemm"), algorithm("winograd")};
  TimingCache cache(file_);
  fastestCpuKernels(graph_, trial_, threads_, cache);
  trial_.algorithms.erase(trial_.algorithms.begin());
  EXPECT_FALSE(fastestCpuKernels(graph_, trial_, threads_, cache).fromCache);
}

TEST_F(KernelChoiceTest, AnotherLayoutMustWinByMoreThanOnePercent) {
  struct Row {
    const char *seconds, *layout;
    double gain;
  };
  trial_.algorithms.pop_back();
  for (const Row& row :
       {Row{"0.5 0.5 0.5 0.5 0.5 0.5", "blocked", 2}, Row{"0.985 0.985 0.985 0.985 0.985 0.985", "blocked", 1 / 0.985},
        Row{"0.995 0.995 0.995 0.995 0.995 0.995", "nhwc", 1}, Row{"1.5 1.5 1.5 1.5 1.5 1.5", "nhwc", 1}}) {
    const CpuKernelChoice choice = choiceIf({{"blocked", row.seconds}});
    EXPECT_TRUE(choice.fromCache);
    EXPECT_EQ(choice.layout->name, row.layout) << row.seconds;
    EXPECT_DOUBLE_EQ(choice.gain, row.gain) << row.seconds;
  }
}

TEST_F(KernelChoiceTest, ABatchNormBehindAConvolutionCountsForItsLayout) {
  trial_.algorithms.pop_back();
  const std::vector<std::pair<std::string, std::string>> seconds{{"Float | blocked\t", "0.5"}};
  EXPECT_EQ(choiceIf(seconds).layout->name, "nhwc") << "no batch-norm follows";
  graph_.add("batch_norm", "norm", {graph_.output()});
  const CpuKernelChoice choice = choiceIf(seconds);
  EXPECT_EQ(choice.layout->name, "blocked");
  EXPECT_DOUBLE_EQ(choice.gain, 1);
}

TEST_F(KernelChoiceTest, EachPassTakesTheAlgorithmThatWinsThere) {
  const CpuKernelChoice choice = choiceIf({{"winograd", "0.5 0.99 0.9 0.5 0.99 0.9"}, {"blocked", "2 2 2 2 2 2"}});
  EXPECT_EQ(choice.layout->name, "nhwc");
  const PassAlgorithms onlyDirect{algorithm("direct"), algorithm("direct"), algorithm("direct")};
  EXPECT_EQ(choice.algorithms.at(1), onlyDirect);
  EXPECT_EQ(choice.algorithms.at(2),
            (PassAlgorithms{algorithm("winograd"), algorithm("direct"), algorithm("winograd")}));
  EXPECT_DOUBLE_EQ(choice.gain, 6 / 5.4);
}

// Points of weights are made once a step: with twice the images they count half.
TEST_F(KernelChoiceTest, WhatChangedWeightsCostIsCountedOncePerStep) {
  trial_.layouts.pop_back();
  trial_.images = 4;  // of one call by one thread
  const std::vector<std::pair<std::string, std::string>> seconds{{"winograd", "0.5 0.5 0.5 1.2 1.2 0.5"}};
  EXPECT_EQ(choiceIf(seconds).algorithms.at(2)[0]->name, "direct");
  trial_.images *= 2;
  EXPECT_EQ(choiceIf(seconds).algorithms.at(2)[0]->name, "winograd");
}

TEST_F(KernelChoiceTest, WhatIsPostponedRunsByTheFirst) {
  trial_.measuring.freeSeconds = 0, trial_.measuring.at = "2026-11-24T10:00:00.000Z";
  TimingCache cache(file_);
  const CpuKernelChoice choice = fastestCpuKernels(graph_, trial_, threads_, cache);
  EXPECT_EQ(choice.measured.jobs, 2);
  EXPECT_EQ(choice.measured.postponed, 2);
  EXPECT_EQ(choice.layout->name, "nhwc");
  EXPECT_DOUBLE_EQ(choice.gain, 1);
  for (const size_t node : {1U, 2U}) EXPECT_EQ(choice.algorithms.at(node)[0]->name, "direct");
}

TEST_F(KernelChoiceTest, LayersWithTheMostWorkComeFirst) {
  TimingCache cache(file_);
  fastestCpuKernels(graph_, trial_, threads_, cache);
  std::ifstream lines(file_);
  std::string first;
  std::getline(lines, first);
  EXPECT_NE(first.find(" 16x8x8->16 "), std::string::npos) << "the second convolution reads more channels: " << first;
}

TEST_F(KernelChoiceTest, SaysWhatASavingIsOf) {
  std::vector<StepSeconds> said;
  trial_.measuring.freeSeconds = 0;
  trial_.measuring.saves = [&said](const StepSeconds& step) {
    said.push_back(step);
    return 1e9 * (1 + step.byDefault);
  };
  TimingCache cache(file_);
  const CpuKernelChoice choice = fastestCpuKernels(graph_, trial_, threads_, cache);
  EXPECT_EQ(choice.measured.now, 2);
  ASSERT_EQ(said.size(), 2U);
  EXPECT_EQ(said.front().byDefault, 0) << "nothing was measured yet";
  EXPECT_GT(said.back().byDefault, 0);
  EXPECT_GE(said.back().byDefault, said.back().chosen);
}

TEST_F(KernelChoiceTest, APassTakesNoAlgorithmBeyondTheAccuracy) {
  trial_.layouts.pop_back();
  const auto algorithmsAt = [&](double accuracy, const std::string& errors) {
    trial_.accuracy = accuracy;
    TimingCache fresh(file_);
    fastestCpuKernels(graph_, trial_, threads_, fresh);
    changeMeasurements(file_, [&](const std::string& line) -> std::string {
      const bool ofWinograd = line.find("winograd") != std::string::npos;
      if (line.starts_with("error of")) return ofWinograd ? errors : "1e-7 1e-7 1e-7";
      return ofWinograd ? "0.5 0.5 0.5 0.5 0.5 0.5" : "1 1 1 1 1 1";
    });
    TimingCache cache(file_);
    const CpuKernelChoice choice = fastestCpuKernels(graph_, trial_, threads_, cache);
    EXPECT_TRUE(choice.fromCache);
    return choice.algorithms.at(2);
  };
  const auto *const direct = algorithm("direct"), *const winograd = algorithm("winograd");
  EXPECT_EQ(algorithmsAt(10, "9e-7 11e-7 10e-7"), (PassAlgorithms{winograd, direct, winograd}));
  EXPECT_EQ(algorithmsAt(1, "9e-7 11e-7 10e-7"), (PassAlgorithms{direct, direct, direct}));
  EXPECT_EQ(algorithmsAt(INFINITY, "9e-7 11e-7 10e-7"), (PassAlgorithms{winograd, winograd, winograd}));
}

TEST_F(KernelChoiceTest, OneOfEachIsNotMeasured) {
  trial_.layouts.pop_back();
  trial_.algorithms = {algorithm("winograd")};
  TimingCache cache(file_);
  const CpuKernelChoice choice = fastestCpuKernels(twoConvolutions(), trial_, threads_, cache);
  EXPECT_FALSE(std::filesystem::exists(file_));
  EXPECT_EQ(choice.algorithms.at(1)[0]->name, "direct") << "winograd does not serve three channels";
  EXPECT_EQ(choice.algorithms.at(2)[0]->name, "winograd");
}

TEST_F(KernelChoiceTest, OnlyThePassesThatAnAlgorithmServes) {
  trial_.layouts.pop_back();
  trial_.algorithms = {algorithm("direct"), algorithm("gemm")};
  const CpuKernelChoice choice = choiceIf({{"gemm", "0.5 0.5 0.5 0.5 0.5 0.5"}});
  const PassAlgorithms weightGradient{algorithm("direct"), algorithm("direct"), algorithm("gemm")};
  EXPECT_EQ(choice.algorithms.at(2), weightGradient);
  EXPECT_DOUBLE_EQ(choice.gain, 6 / 5.0);
  trial_.algorithms = {algorithm("gemm")};
  EXPECT_EQ(choiceIf({}).algorithms.at(2), weightGradient);
}

}  // namespace
}  // namespace tandem
