#include "executor/select/gpu_kernels.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <map>

#include "base/catalog.h"
#include "base/text.h"
#include "executor/executor.h"
#include "executor/model_subject.h"
#include "support/relative_error.h"
#include "support/stand_in_engines.h"

namespace tandem {
namespace {

using Names = std::array<std::string, 3>;

/// "a" reads the images, "b" and "c" are alike, "d" has unequal padding.
Graph fourConvolutions() {
  Graph graph({3, 8, 8});
  const auto conv = [&](const char* name, NodeId from, Padding padding) {
    const bool bias = std::string_view(name) != "d";  // before a batch-norm it would have no gradient but roundings
    return graph.add("conv", name, {from},
                     {.outputs = 16, .kernelH = 3, .kernelW = 3, .padding = padding, .bias = bias});
  };
  const NodeId b = conv("b", conv("a", graph.input(), Padding::all(1)), Padding::all(1));
  conv("d", conv("c", b, Padding::all(1)), {0, 1, 0, 1});
  return graph;
}

/// A convolution, then two batch-norms with ReLU that are alike, one with a residual, and one without a ReLU.
Graph fourNorms() {
  Graph graph({3, 8, 8});
  const NodeId a = graph.add("conv", "a", {graph.input()}, {.outputs = 16});
  const auto norm = [&](const std::string& name, NodeId from) { return graph.add("batch_norm", name, {from}); };
  const auto relu = [&](const std::string& name, NodeId from) { return graph.add("relu", name, {from}); };
  const NodeId first = relu("r1", norm("n1", a)), second = relu("r2", norm("n2", first));
  const NodeId sum = relu("r3", graph.add("add", "s", {norm("n3", second), first}));
  norm("n4", sum);
  return graph;
}

/// Stand-in engines whose times a table says: by a word of the problem and the name of the engine.
class EngineChoiceTest : public testing::Test {
 protected:
  EngineChoiceTest() {
    trial_.images = 2;
    trial_.device = at::kCPU;
    trial_.rule.where = concat("some GPU");
    trial_.rule.secondsOf = [this](const std::function<void()>& call) {
      log_.runs.clear();
      call();
      ++timed_;
      const std::string engine = log_.runs.empty() ? std::string(atenName) : log_.runs.back();
      for (const auto& [words, seconds] : seconds_) {
        if (log_.problem.find(words.first) != std::string::npos && words.second == engine) return seconds;
      }
      return 1.0;
    };
    trial_.engines = [this](const ConvolutionProblem& problem) -> std::unique_ptr<ExecutionPlans> {
      if (!hasEngines_ || (problem.sums && !hasSums_)) return nullptr;
      return std::make_unique<StandInPlans>(problem, log_);
    };
    trial_.norms = [this](const NormProblem& problem) -> std::unique_ptr<ExecutionPlans> {
      if (!hasEngines_) return nullptr;
      return std::make_unique<StandInPlans>(problem, log_);
    };
  }
  GpuKernelChoice choice(TimingCache& cache) { return fastestGpuKernels(graph_, trial_, cache); }
  GpuKernelChoice choice() {
    TimingCache nowhere{std::filesystem::path()};
    return choice(nowhere);
  }

  Graph graph_ = fourConvolutions();
  GpuKernelTrial trial_;
  EngineLog log_;
  std::map<std::pair<std::string, std::string>, double> seconds_;
  bool hasEngines_ = true, hasSums_ = false;
  int timed_ = 0;
};

NodeId nodeOf(const Graph& graph, std::string_view name) {
  return static_cast<NodeId>(std::ranges::find(graph.nodes(), name, &Node::name) - graph.nodes().begin());
}

TEST_F(EngineChoiceTest, EachPassTakesTheEngineThatWinsThere) {
  seconds_ = {{{"forward", "plain"}, 0.5},
              {{"input gradient", "roomy"}, 0.25},
              {{"weight gradient", "plain"}, 0.99},
              {{"3x8x8->16", "roomy"}, 0.1}};
  const GpuKernelChoice choice = this->choice();
  EXPECT_EQ(choice.engines.at(1).names, (Names{"roomy", "ATen", "roomy"})) << "nobody asks for the images' gradient";
  EXPECT_EQ(choice.engines.at(2).names, (Names{"plain", "roomy", "ATen"}));
  EXPECT_EQ(choice.engines.at(3).names, choice.engines.at(2).names);
  EXPECT_EQ(choice.engines.at(4).names, (Names{"ATen", "ATen", "ATen"})) << "unequal padding";
  for (size_t node = 1; node < 5; ++node) EXPECT_EQ(choice.engines.at(node).images, 2);
  EXPECT_DOUBLE_EQ(choice.gain, 8 / (0.1 + 0.1 + 2 * (0.5 + 0.25 + 1)));
  EXPECT_EQ(log_.made, 5) << "two passes of a, three of b and c together";
}

TEST_F(EngineChoiceTest, WhatComputesSomethingElseIsNotTaken) {
  seconds_ = {{{"convolution", "plain"}, 0.2}, {{"convolution", "roomy"}, 0.4}};
  EXPECT_EQ(choice().engines.at(2).names, (Names{"plain", "plain", "plain"}));
  log_.wrong = concat("plain");
  for (const at::ScalarType type : {at::kFloat, at::kBFloat16, at::kHalf}) {
    trial_.compute = type;
    EXPECT_EQ(choice().engines.at(2).names, (Names{"roomy", "roomy", "roomy"}));
  }
}

TEST_F(EngineChoiceTest, NormsTakeThePairThatWinsTogether) {
  graph_ = fourNorms();
  const auto pairOf = [](const GpuKernelChoice& choice, const Graph& graph, std::string_view name) {
    for (size_t i = 0; i < graph.nodes().size(); ++i) {
      if (graph.nodes()[i].name == name) return choice.norms.at(i);
    }
    return NormPlans{-1, "", ""};
  };
  const NormPlans none;
  seconds_ = {{{"relu, forward", "plain"}, 1.2}, {{"relu, forward", "roomy"}, 1.1}, {{"relu, backward", "plain"}, 0.5}};
  GpuKernelChoice choice = this->choice();
  const NormPlans pair{2, "roomy", "plain"};
  EXPECT_EQ(pairOf(choice, graph_, "n1"), pair);
  EXPECT_EQ(pairOf(choice, graph_, "n2"), pair);
  EXPECT_EQ(pairOf(choice, graph_, "n3"), pair);
  EXPECT_EQ(pairOf(choice, graph_, "n4"), none) << "no ReLU";
  seconds_ = {{{"relu, forward", "plain"}, 1.4}, {{"relu, forward", "roomy"}, 1.5}, {{"relu, backward", "plain"}, 0.6}};
  EXPECT_EQ(pairOf(this->choice(), graph_, "n1"), none) << "no gain";
  seconds_ = {{{"relu", "plain"}, 0.5}, {{"relu", "roomy"}, 0.6}};
  log_.wrong = concat("plain");
  EXPECT_EQ(pairOf(this->choice(), graph_, "n3"), (NormPlans{2, "roomy", "roomy"}));
  trial_.norms = {};
  EXPECT_EQ(pairOf(this->choice(), graph_, "n1"), none) << "not asked for";
}

TEST_F(EngineChoiceTest, NormsAreMeasuredOnce) {
  graph_ = fourNorms();
  TimingCache cache{std::filesystem::path()};
  seconds_ = {{{"relu", "plain"}, 0.5}};
  const GpuKernelChoice first = choice(cache);
  EXPECT_FALSE(first.fromCache);
  timed_ = 0;
  const GpuKernelChoice again = choice(cache);
  EXPECT_TRUE(again.fromCache);
  EXPECT_EQ(timed_, 0);
  EXPECT_EQ(again.norms, first.norms);
  EXPECT_EQ(again.engines, first.engines);
}

/// By the words of their keys: what was measured.
int64_t measuredOf(const GpuKernelChoice& choice, std::string_view words) {
  const auto has = [&](const auto& timing) { return timing.first.find(words) != std::string::npos; };
  return std::ranges::count_if(choice.measured.timings, has);
}

// n1's output has two readers, n2's and n3's have one each. Forward is the same for n1 and n2.
TEST_F(EngineChoiceTest, ABackwardOfSeveralGradientsIsAnother) {
  graph_ = fourNorms();
  seconds_ = {{{"relu", "plain"}, 0.5}};
  const GpuKernelChoice first = this->choice();
  const int64_t ways = 4;  // the kernels and three plans
  EXPECT_EQ(measuredOf(first, "batch-norm + relu, forward"), ways);
  EXPECT_EQ(measuredOf(first, "batch-norm + relu, backward"), 2 * ways);
  EXPECT_EQ(measuredOf(first, ", 2 gradients"), ways);
  EXPECT_EQ(measuredOf(first, "batch-norm + add + relu, backward"), ways);
}

/// Of fourNorms() alone n1 reads a convolution, by itself.
class SumsChoiceTest : public EngineChoiceTest {
 protected:
  SumsChoiceTest() {
    graph_ = fourNorms();
    hasSums_ = true;
  }
  static std::string engineOf(const GpuKernelChoice& choice, const Graph& graph) {
    return choice.engines.at(static_cast<size_t>(nodeOf(graph, "a"))).withStats;
  }
  static NormPlans normOf(const GpuKernelChoice& choice, const Graph& graph) {
    return choice.norms.at(static_cast<size_t>(nodeOf(graph, "n1")));
  }
};

TEST_F(SumsChoiceTest, AnEngineWithSumsIsTakenWhereBothAreFasterTogether) {
  seconds_ = {{{"with sums", "plain"}, 0.5}, {{"with sums", "roomy"}, 0.4}};
  GpuKernelChoice choice = this->choice();
  EXPECT_EQ(engineOf(choice, graph_), "roomy");
  EXPECT_EQ(choice.engines.at(static_cast<size_t>(nodeOf(graph_, "a"))).names.front(), atenName) << "in evaluation";
  // a and n1 forward, a's weight gradient, forward and backward of two batch-norms.
  EXPECT_DOUBLE_EQ(choice.gain, 6 / (6 - 0.6));
  seconds_ = {{{"with sums", "plain"}, 0.98}};
  choice = this->choice();
  EXPECT_EQ(engineOf(choice, graph_), "") << "no gain";
  EXPECT_EQ(choice.gain, 1);
}

TEST_F(SumsChoiceTest, WhatIsInAPairIsNotTriedAlone) {
  seconds_ = {{{"with sums", "plain"}, 0.5}, {{"relu, forward", "plain"}, 0.7}, {{"relu, backward", "plain"}, 0.7}};
  GpuKernelChoice choice = this->choice();
  const NormPlans pair{2, "plain", "plain"};
  EXPECT_EQ(engineOf(choice, graph_), "plain");
  EXPECT_EQ(normOf(choice, graph_), NormPlans{});
  EXPECT_EQ(measuredOf(choice, "convolution, forward, 2 x"), 0);
  EXPECT_EQ(choice.norms.at(static_cast<size_t>(nodeOf(graph_, "n2"))), pair);
  EXPECT_DOUBLE_EQ(choice.gain, 6 / (2 - 0.5 + 2 * 1.4));
}

TEST_F(SumsChoiceTest, WhatComputesOtherSumsIsNotTaken) {
  seconds_ = {{{"with sums", "plain"}, 0.5}};
  for (const at::ScalarType type : {at::kFloat, at::kBFloat16, at::kHalf}) {
    trial_.compute = type;
    log_.sumsShift = 0;
    EXPECT_EQ(engineOf(choice(), graph_), "plain");
    log_.sumsShift = 1;
    EXPECT_EQ(engineOf(choice(), graph_), "");
  }
}

TEST_F(SumsChoiceTest, IsForTrainingWithOrWithoutEnginesOfBatchNorms) {
  seconds_ = {{{"with sums", "plain"}, 0.5}};
  trial_.norms = {};
  const GpuKernelChoice choice = this->choice();
  EXPECT_EQ(engineOf(choice, graph_), "plain");
  EXPECT_DOUBLE_EQ(choice.gain, 2 / 1.5) << "two passes of a";
  trial_.forwardOnly = true;
  log_.sums = 0;
  EXPECT_EQ(engineOf(this->choice(), graph_), "");
  EXPECT_EQ(log_.sums, 0);
}

TEST_F(SumsChoiceTest, IsMeasuredOnce) {
  TimingCache cache{std::filesystem::path()};
  seconds_ = {{{"with sums", "plain"}, 0.5}};
  const GpuKernelChoice first = choice(cache);
  timed_ = 0;
  const GpuKernelChoice again = choice(cache);
  EXPECT_TRUE(again.fromCache);
  EXPECT_EQ(timed_, 0);
  EXPECT_EQ(again.engines, first.engines);
}

TEST_F(EngineChoiceTest, IsMeasuredOnce) {
  TimingCache cache{std::filesystem::path()};
  EXPECT_FALSE(choice(cache).fromCache);
  timed_ = 0;
  EXPECT_TRUE(choice(cache).fromCache);
  EXPECT_EQ(timed_, 0);
  trial_.images = 3;
  EXPECT_FALSE(choice(cache).fromCache);
  trial_.images = 2, trial_.compute = at::kBFloat16;
  EXPECT_FALSE(choice(cache).fromCache);
}

TEST_F(EngineChoiceTest, WithoutEnginesNothingIsMeasured) {
  hasEngines_ = false;
  const GpuKernelChoice choice = this->choice();
  EXPECT_EQ(choice.engines.at(2).names, (Names{"ATen", "ATen", "ATen"}));
  EXPECT_EQ(choice.gain, 1);
  EXPECT_EQ(timed_, 0);
}

// The plan hands each convolution its engines: with one that is nowhere to be found all is ATen's, and the same.
TEST(EnginesOfThePlan, WhereNoneServesTheNetworkIsTheSame) {
  Graph graph = fourConvolutions();
  graph.add("relu", "r", {graph.add("batch_norm", "n", {graph.output()})});
  const auto gradientsOf = [&](const std::vector<PassPlans>& engines, const std::vector<NormPlans>& norms) {
    const ExecutorOptions options{.kernels = {.engines = engines, .norms = norms}};
    FlatBuffers buffers = buffersFor(graph, precisions().front(), options);
    for (int i = 0; i < buffers.parameters(); ++i) {
      buffers.masterView(i).copy_(at::sin(at::arange(buffers.masterView(i).numel())).view_as(buffers.masterView(i)));
    }
    buffers.refreshWeights();
    const auto executor = find(executors(), "planned", "executor").make(options);
    executor->bind(graph, buffers);
    const at::Tensor images =
        at::cos(at::arange(2 * 3 * 64)).view({2, 3, 8, 8}).contiguous(options.kernels.layout.format);
    const at::Tensor output = executor->forward({images, at::zeros({2}, at::kLong), 0, nullptr})[0].clone();
    const at::Tensor ones = at::ones_like(output);
    executor->backward({&ones, 1}, [](auto) {});
    std::vector<at::Tensor> all{output};
    for (int i = 0; i < buffers.parameters(); ++i) all.push_back(buffers.gradientView(i).clone());
    return all;
  };
  const auto expected = gradientsOf({}, {});
  const auto found = gradientsOf(std::vector<PassPlans>(graph.nodes().size(), {2, {"no such", "no such", "no such"}}),
                                 std::vector<NormPlans>(graph.nodes().size(), {2, "no such", "no such"}));
  ASSERT_EQ(found.size(), expected.size());
  constexpr double bound = 3e-5;  // ATen's convolutions add in another order, and batch-norm's gradients cancel
  for (size_t i = 0; i < found.size(); ++i) EXPECT_LE(relativeError(found[i], expected[i]), bound) << i;
}

}  // namespace
}  // namespace tandem
