#include "executor/compile/checkpointing.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <cmath>
#include <map>

#include "base/catalog.h"
#include "executor/compile/liveness.h"
#include "executor/compile/plan_description.h"
#include "executor/executor.h"
#include "executor/odd_net.h"
#include "graph/operation.h"
#include "models/model.h"
#include "support/counting_allocator.h"
#include "support/large_tensors.h"
#include "support/precisions.h"
#include "support/stand_in_engines.h"
#include "support/typical_networks.h"

namespace tandem {
namespace {

std::vector<size_t> everywhere(const Activations& a) {
  std::vector<size_t> cuts;
  for (size_t i = 1; i < a.calls.size(); ++i) cuts.push_back(i);
  return cuts;
}

std::vector<size_t> everyThird(const Activations& a) {
  std::vector<size_t> cuts;
  for (size_t i = 3; i < a.calls.size(); i += 3) cuts.push_back(i);
  return cuts;
}

std::vector<size_t> beforeEachSum(const Activations& a) {
  std::vector<size_t> cuts;
  for (size_t i = 1; i < a.calls.size(); ++i) {
    if (a.calls[i].operation->name == "add") cuts.push_back(i);
  }
  return cuts;
}

/// The catalog's, and cuts that no policy would make: many values cross them.
std::vector<RecomputeEntry> policies() {
  std::vector<RecomputeEntry> all(recomputes().begin() + 1, recomputes().end());
  all.push_back({"everywhere", "", everywhere});
  all.push_back({"every third", "", everyThird});
  all.push_back({"before each sum", "", beforeEachSum});
  return all;
}

struct Setting {
  const Precision* precision = &precisions().front();
  LayoutEntry layout = layouts().front();
  RecomputeEntry recompute = recomputes().front();
  int64_t images = 4;
  bool training = true;
  EngineLog* sums = nullptr;  // of stand-in engines, by which convolutions run that give batch-norms their sums
};

ExecutorOptions optionsOf(const Graph& graph, const Setting& setting) {
  ExecutorOptions options{.compute = setting.precision->compute,
                          .kernels = {.layout = setting.layout},
                          .dropoutSeed = 7,
                          .recompute = setting.recompute};
  if (setting.sums == nullptr) return options;
  const std::string aten(atenName);
  options.kernels.engines.assign(graph.nodes().size(), {setting.images, {aten, aten, aten}, "plain"});
  options.plansOf = [log = setting.sums](const ConvolutionProblem& problem) -> std::unique_ptr<ExecutionPlans> {
    return std::make_unique<StandInPlans>(problem, *log);
  };
  return options;
}

/// A network whose executor can be asked for steps.
class Bound {
 public:
  Bound(const Graph& graph, const Setting& setting)
      : graph_(graph),
        setting_(setting),
        options_(optionsOf(graph, setting)),
        buffers_(parameterSpecs(graph, options_), *setting.precision, at::kCPU, setting.layout.format),
        executor_(find(executors(), "planned", "executor").make(options_)) {
    at::manual_seed(3);
    for (int i = 0; i < buffers_.parameters(); ++i) {
      at::Tensor values = buffers_.masterView(i);
      values.uniform_(-1, 1).mul_(values.dim() > 1 ? std::sqrt(3.0 / static_cast<double>(values[0].numel())) : 1);
    }
    buffers_.refreshWeights();
    executor_->bind(graph_, buffers_);
    executor_->setTraining(setting.training);
    const ImageShape shape = graph_.node(graph_.input()).shape;
    images_ = at::randn({setting.images, shape.channels, shape.height, shape.width})
                  .to(options_.compute)
                  .contiguous(setting.layout.format);
  }

  at::Tensor forward() { return executor_->forward({images_, at::zeros({setting_.images}, at::kLong), 0, nullptr})[0]; }
  void backward(
      const at::Tensor& output, const GradientReady& ready = [](auto) {}) {
    const at::Tensor gradient = at::cos(at::arange(output.numel())).view_as(output).to(options_.compute);
    const size_t auxiliaries = setting_.training ? graph_.auxiliaries().size() : 0;
    executor_->backward(std::vector<at::Tensor>(1 + auxiliaries, gradient), ready);
  }
  FlatBuffers& buffers() { return buffers_; }
  Executor& executor() { return *executor_; }

 private:
  Graph graph_;
  Setting setting_;
  ExecutorOptions options_;
  FlatBuffers buffers_;
  std::unique_ptr<Executor> executor_;
  at::Tensor images_;
};

/// All that two steps leave.
std::map<std::string, at::Tensor> twoSteps(const Graph& graph, const Setting& setting) {
  Bound bound(graph, setting);
  std::map<std::string, at::Tensor> found;
  for (int step = 0; step < 2; ++step) {
    const at::Tensor output = bound.forward();
    bound.backward(output);
    found[concat("output ", step)] = output.clone();
    for (int i = 0; i < bound.buffers().parameters(); ++i) {
      found[concat(bound.buffers().spec(i).name, ' ', step)] = bound.buffers().gradientView(i).clone();
    }
  }
  for (const auto& [name, value] : bound.executor().statistics()) found[name] = value;
  return found;
}

void expectSame(const Graph& graph, Setting setting, std::span<const RecomputeEntry> policies) {
  const auto expected = twoSteps(graph, setting);
  for (const auto& [name, value] : expected) EXPECT_TRUE(std::isfinite(exactNorm(value))) << name;
  for (const RecomputeEntry& policy : policies) {
    setting.recompute = policy;
    SCOPED_TRACE(concat(policy.name, ' ', setting.precision->name, ' ', setting.layout.name));
    const auto found = twoSteps(graph, setting);
    ASSERT_EQ(found.size(), expected.size());
    for (const auto& [name, value] : expected) EXPECT_TRUE(at::equal(found.at(name), value)) << name;
  }
}

class RecomputeOfNetwork : public testing::TestWithParam<TypicalNetwork> {};

TEST_P(RecomputeOfNetwork, GivesTheSameGradients) {
  const TypicalNetwork& network = GetParam();
  expectSame(buildModel(network.model, {.classes = 10, .imageSize = network.imageSize}), {.images = 2},
             recomputes().subspan(1));
}

std::vector<TypicalNetwork> networks(bool quick) {
  std::vector<TypicalNetwork> found;
  for (const TypicalNetwork& network : typicalNetworks) {
    const int64_t parameters = find(models(), network.model, "model").parameters;
    if ((parameters <= mostQuickParameters) == quick) found.push_back(network);
  }
  return found;
}

std::string nameOf(const testing::TestParamInfo<TypicalNetwork>& row) { return std::string(row.param.model); }

INSTANTIATE_TEST_SUITE_P(Typical, RecomputeOfNetwork, testing::ValuesIn(networks(/*quick=*/true)), nameOf);
INSTANTIATE_TEST_SUITE_P(LongTypical, RecomputeOfNetwork, testing::ValuesIn(networks(/*quick=*/false)), nameOf);

TEST(Recompute, EveryLayoutAndPrecisionGivesTheSameGradients) {
  const auto all = policies();
  for (const Precision& precision : precisionsOnCpu()) {
    for (const LayoutEntry& layout : layouts()) {
      if (!serves(find(executors(), "planned", "executor"), layout, at::kCPU, precision.compute)) continue;
      for (const bool training : {true, false}) {
        SCOPED_TRACE(training ? "training" : "evaluation");
        const Setting setting{.precision = &precision, .layout = layout, .images = 8, .training = training};
        for (const int64_t width : {1, 4}) expectSame(oddNet(width), setting, all);
        Setting ofFew = setting;
        ofFew.images = 2;  // in fp16 its convolutions are ATen's, which take long
        expectSame(buildModel("resnet20", {.imageSize = 16}), ofFew, all);
      }
    }
  }
}

TEST(Recompute, WithSumsFromConvolutionsGradientsAreTheSame) {
  EngineLog log;
  const Setting setting{.images = 8, .sums = &log};
  const auto all = policies();
  expectSame(oddNet(1), setting, all);
  EXPECT_GT(log.sums, 0);
  expectSame(buildModel("resnet20", {.imageSize = 16}), setting, all);
}

/// Dropouts before anything is trained, within segments and between them; sums written over their first term.
Graph droppingNet() {
  Graph net({8, 10, 10});
  const Attributes conv{.outputs = 8, .kernelH = 3, .kernelW = 3, .padding = Padding::all(1)};
  NodeId x = net.add("dropout", "drop0", {net.input()}, {.probability = 0.2});
  for (const char* number : {"1", "2", "3", "4"}) {
    x = net.add("conv", concat("conv", number), {x}, conv);
    const NodeId left = net.add("dropout", concat("left", number), {x}, {.probability = 0.5});
    const NodeId right = net.add("dropout", concat("right", number), {x}, {.probability = 0.25});
    const NodeId main = net.add("conv", concat("main", number), {right}, conv);
    x = net.add("relu", concat("relu", number), {net.add("add", concat("add", number), {main, left})});
  }
  net.add("linear", "fc", {net.add("flatten", "flatten", {x})}, {.outputs = 5});
  return net;
}

TEST(Recompute, DropoutRepeatsItsMaskAndGoesOnWithNewOnes) {
  const Graph net = droppingNet();
  expectSame(net, {}, policies());
  const auto found = twoSteps(net, {.recompute = find(recomputes(), "segments", "recompute")});
  EXPECT_FALSE(at::equal(found.at("output 0"), found.at("output 1")));
}

TEST(Recompute, EachSliceIsReportedOnceAsFinal) {
  for (const RecomputeEntry& policy : policies()) {
    SCOPED_TRACE(policy.name);
    Bound bound(buildModel("resnet20", {.imageSize = 16}), {.recompute = policy});
    std::map<int, at::Tensor> reported;
    bound.backward(bound.forward(), [&](std::span<const Slice> slices) {
      for (const Slice slice : slices) {
        const int i = bound.buffers().parametersIn(slice).at(0);
        EXPECT_FALSE(reported.contains(i));
        reported[i] = bound.buffers().gradientView(i).clone();
        // As a strategy may do now.
        bound.buffers().weightView(i).zero_();
      }
    });
    ASSERT_EQ(reported.size(), static_cast<size_t>(bound.buffers().parameters()));
    Bound whole(buildModel("resnet20", {.imageSize = 16}), {});
    whole.backward(whole.forward());
    for (const auto& [i, gradient] : reported) {
      EXPECT_TRUE(at::equal(gradient, whole.buffers().gradientView(i))) << bound.buffers().spec(i).name;
    }
  }
}

CountingAllocator& memory = CountingAllocator::installed();  // before main

struct Bytes {
  int64_t kept, peak;  // after forward, in the whole step
};

/// Of a step after the first, in which kernels take what they need for good.
Bytes bytesOfStep(const Graph& graph, const Setting& setting) {
  Bound bound(graph, setting);
  bound.backward(bound.forward());
  const int64_t before = memory.live();
  memory.forgetPeak();
  const at::Tensor output = bound.forward();
  const int64_t kept = memory.live() - before;
  bound.backward(output);
  return {kept, memory.peak() - before};
}

PlanDescription describe(const Graph& graph, const Setting& setting) {
  return describePlan(
      graph,
      {.compute = setting.precision->compute, .kernels = {.layout = setting.layout}, .recompute = setting.recompute},
      setting.images);
}

TEST(Recompute, TakesLessMemory) {
  const Graph net = buildModel("resnet50", {.classes = 10, .imageSize = 64});
  const int64_t images = 8;
  for (const Precision& precision : precisionsOnCpu()) {
    if (!convolutionsTake(precision.compute)) continue;  // ATen's take seconds, and the memory is that of bf16
    SCOPED_TRACE(precision.name);
    const Setting all{.precision = &precision, .images = images};
    Setting norm = all, segments = all;
    norm.recompute = find(recomputes(), "norm", "recompute");
    segments.recompute = find(recomputes(), "segments", "recompute");
    const Bytes ofAll = bytesOfStep(net, all), ofNorm = bytesOfStep(net, norm), ofSegments = bytesOfStep(net, segments);
    EXPECT_LT(ofNorm.kept, 0.75 * ofAll.kept);
    EXPECT_LT(ofSegments.kept, 0.4 * ofAll.kept);
    // Most of it is saved at the peak too, where a convolution takes what its kernel needs on this processor.
    EXPECT_LT(ofNorm.peak, ofAll.peak - (ofAll.kept - ofNorm.kept) / 2) << ofAll.kept << ' ' << ofNorm.kept;
    EXPECT_LT(ofSegments.peak, ofAll.peak - (ofAll.kept - ofSegments.kept) / 2) << ofAll.peak << ' ' << ofSegments.kept;
    // What is said is what is kept, but for the images, which were there before.
    const PlanDescription said = describe(net, all);
    const int64_t ofImages = images * 3 * 64 * 64 * c10::elementSize(precision.compute);
    EXPECT_NEAR(static_cast<double>(ofAll.kept), static_cast<double>(said.keptBytes - ofImages), 0.02 * said.keptBytes);
    EXPECT_EQ(describe(net, segments).keptWithoutBytes, said.keptBytes);
    EXPECT_LE(ofSegments.kept, 1.02 * describe(net, segments).keptBytes);
  }
}

/// conv, batch_norm + relu (twice), all in a row.
Graph chain() {
  Graph net({4, 8, 8});
  NodeId x = net.input();
  for (const char* number : {"1", "2", "3", "4"}) {
    x = net.add("conv", concat("conv", number), {x},
                {.outputs = 4, .kernelH = 3, .kernelW = 3, .padding = Padding::all(1), .bias = false});
    x = net.add("relu", concat("relu", number), {net.add("batch_norm", concat("bn", number), {x})});
  }
  net.add("linear", "fc", {net.add("flatten", "flatten", {x})}, {.outputs = 5});
  return net;
}

std::vector<std::string> runningAgain(const PlanDescription& plan) {
  std::vector<std::string> names;
  for (const OpDescription& call : plan.calls) {
    if (call.again) names.push_back(call.name);
  }
  return names;
}

TEST(Recompute, RunsAgainOnlyWhatIsNotKept) {
  Setting setting{.images = 1};
  setting.recompute = find(recomputes(), "norm", "recompute");
  const PlanDescription norm = describe(chain(), setting);
  // bn4 and what follows are the last segment.
  EXPECT_EQ(runningAgain(norm), (std::vector<std::string>{"bn1", "bn2", "bn3"}));
  EXPECT_EQ(norm.segments, 5u);
  // The images, four outputs of convolutions, the output of bn4, which flatten and fc read.
  const int64_t value = 4 * 64 * 4;
  EXPECT_EQ(norm.keptBytes, 7 * value);
  EXPECT_EQ(norm.keptWithoutBytes, 10 * value);
  EXPECT_EQ(norm.flopsAgain, 0);
}

TEST(Recompute, ANetworkWithoutAPlaceToCutKeepsAll) {
  Setting setting;
  setting.recompute = find(recomputes(), "norm", "recompute");
  const PlanDescription plan = describe(buildModel("alexnet", {.classes = 10, .imageSize = 64}), setting);
  EXPECT_EQ(plan.segments, 1u);
  EXPECT_EQ(plan.keptBytes, plan.keptWithoutBytes);
}

}  // namespace
}  // namespace tandem
