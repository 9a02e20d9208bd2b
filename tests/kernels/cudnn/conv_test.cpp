#include "kernels/cudnn/conv.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include "device/precision.h"
#include "kernels/conv/convolution_layer.h"
#include "support/relative_error.h"
#include "support/stand_in_engines.h"
#include "support/test_devices.h"

namespace tandem {
namespace {

constexpr auto channelsLast = at::MemoryFormat::ChannelsLast;

const std::array layers{Layer{"3x3", 2, 16, 24, 9, 7, 3, 3, {1, 1, 1, 1, 1, 1, 1}, true},
                        Layer{"stem", 2, 8, 32, 15, 13, 7, 5, {2, 1, 3, 3, 2, 2, 1}, false},
                        Layer{"grouped", 2, 32, 32, 6, 6, 3, 3, {2, 2, 1, 1, 1, 1, 4}, true},
                        Layer{"pointwise", 3, 16, 8, 5, 4, 1, 1, {1, 1, 0, 0, 0, 0, 1}, false}};

at::Tensor random(at::IntArrayRef shape, at::ScalarType type, at::Device device = at::kCPU) {
  return at::randn(shape).to(device, type).contiguous(channelsLast);
}

/// A layer's tensors and what its passes should give.
struct Subject {
  explicit Subject(const Layer& of, at::ScalarType type, at::ScalarType gradientType) : layer(of) {
    at::manual_seed(3);
    x = random(of.x(), type), dy = random(of.y(), type);
    weight = random(of.weight(), type);
    if (of.bias) bias = at::randn({of.outputs}).to(type);
    gradients.weight = at::full_like(weight, 99, at::TensorOptions(gradientType));
    if (of.bias) gradients.bias = at::full_like(bias, 99, at::TensorOptions(gradientType));
  }
  ConvolutionParameters parameters() const { return {weight, bias, gradients.weight, gradients.bias}; }

  void run(Convolution& kernel) {
    kernel.weightsChanged();
    gradients.y = kernel.forward(x);
    kernel.backwardParameters(x, dy);
    gradients.x = kernel.backwardInput(x, dy);
  }

  Results exact() const { return exactResults(layer, {x, weight, bias, dy}); }

  void expectRight() const {
    const Results right = exact();
    const double tolerance = x.scalar_type() == at::kFloat ? 1e-5 : x.scalar_type() == at::kHalf ? 1e-3 : 8e-3;
    EXPECT_LE(relativeError(gradients.y, right.y), tolerance) << layer.name;
    EXPECT_LE(relativeError(gradients.x, right.x), tolerance) << layer.name;
    EXPECT_LE(relativeError(gradients.weight, right.weight), tolerance) << layer.name;
    if (layer.bias) {
      EXPECT_LE(relativeError(gradients.bias, right.bias), tolerance) << layer.name;
    }
  }

  Layer layer;
  at::Tensor x, dy, weight, bias;
  Results gradients;
};

class EngineConvolutionTest : public testing::Test {
 protected:
  std::unique_ptr<Convolution> kernel(const Subject& subject, PassPlans chosen) {
    const auto engines = [this](const ConvolutionProblem& problem) -> std::unique_ptr<ExecutionPlans> {
      return std::make_unique<StandInPlans>(problem, log_);
    };
    return makeCudnnConvolution(subject.layer.geometry, subject.parameters(), std::move(chosen), engines);
  }
  std::unique_ptr<Convolution> kernel(const Subject& subject, std::array<std::string, 3> names) {
    return kernel(subject, PassPlans{subject.layer.images, std::move(names)});
  }

  EngineLog log_;
};

TEST_F(EngineConvolutionTest, EachPassRunsByTheEngineThatIsNamed) {
  for (const at::ScalarType type : {at::kFloat, at::kBFloat16, at::kHalf}) {
    for (const Layer& layer : layers) {
      Subject subject(layer, type, type);
      log_ = {};
      subject.run(*kernel(subject, {"plain", "roomy", "plain"}));
      subject.expectRight();
      EXPECT_EQ(log_.runs, (std::vector<std::string>{"plain", "plain", "roomy"})) << "weights before the input";
      EXPECT_TRUE(log_.workspaceFits);
      log_ = {};
      subject.run(*kernel(subject, {"ATen", "ATen", "roomy"}));
      subject.expectRight();
      EXPECT_EQ(log_.runs, std::vector<std::string>{"roomy"});
    }
  }
}

/// Of mean and variance of the output, and of it itself, by its sums.
void expectSums(const Subject& subject, const at::Tensor& y, const ChannelStats& sums) {
  const at::Tensor right = subject.exact().y;
  const auto [variance, mean] = at::var_mean(right, {0, 2, 3}, /*unbiased=*/false);
  const ChannelMoments found = momentsOf(sums, right.numel() / right.size(1));
  const double tolerance = y.scalar_type() == at::kFloat ? 1e-5 : y.scalar_type() == at::kHalf ? 1e-3 : 8e-3;
  EXPECT_LE(relativeError(y, right), tolerance) << subject.layer.name;
  EXPECT_LE(relativeError(found.mean, mean), tolerance) << subject.layer.name;
  EXPECT_LE(relativeError(found.variance, variance), tolerance) << subject.layer.name;
}

TEST_F(EngineConvolutionTest, SumsComeFromTheEngineThatIsNamedForThem) {
  for (const at::ScalarType type : {at::kFloat, at::kBFloat16, at::kHalf}) {
    for (const Layer& layer : layers) {
      const Subject subject(layer, type, type);
      const auto made = kernel(subject, PassPlans{layer.images, {"plain", "ATen", "ATen"}, "roomy"});
      log_ = {};
      ChannelStats sums;
      const at::Tensor y = made->forwardWithStats(subject.x, sums);
      ASSERT_TRUE(sums.defined());
      expectSums(subject, y, sums);
      EXPECT_EQ(sums.about.defined(), layer.bias) << "what is summed has no bias yet";
      made->forward(subject.x);
      EXPECT_EQ(log_.runs, (std::vector<std::string>{"roomy", "plain"}));
      EXPECT_EQ(log_.sums, 1);
      EXPECT_TRUE(log_.workspaceFits);
    }
  }
}

TEST_F(EngineConvolutionTest, WithoutAnEngineForThemThereAreNoSums) {
  const Subject subject(layers[0], at::kFloat, at::kFloat);
  const int64_t images = subject.layer.images;
  const std::array<std::string, 3> names{"plain", "ATen", "ATen"};
  for (const PassPlans& engines :
       {PassPlans{images, names, ""}, PassPlans{images, names, "refusing"}, PassPlans{images + 1, names, "plain"}}) {
    log_ = {};
    ChannelStats sums{at::ones({1}), at::ones({1})};
    const at::Tensor y = kernel(subject, engines)->forwardWithStats(subject.x, sums);
    EXPECT_FALSE(sums.defined());
    EXPECT_LE(relativeError(y, subject.exact().y), 1e-5);
    EXPECT_EQ(log_.sums, 0);
    const bool byEngine = engines.images == images;
    EXPECT_EQ(log_.runs, byEngine ? std::vector<std::string>{"plain"} : std::vector<std::string>{});
  }
}

TEST_F(EngineConvolutionTest, GradientsOfAnotherTypeAreConverted) {
  Subject subject(layers[0], at::kBFloat16, at::kFloat);
  subject.run(*kernel(subject, {"plain", "plain", "plain"}));
  subject.expectRight();
  EXPECT_EQ(log_.runs.size(), 3U);
}

TEST_F(EngineConvolutionTest, EnginesAreMadeOnceForAShape) {
  Subject subject(layers[0], at::kFloat, at::kFloat);
  const auto made = kernel(subject, {"plain", "plain", "plain"});
  for (int step = 0; step < 3; ++step) subject.run(*made);
  EXPECT_EQ(log_.made, 3) << "a pass each";
  EXPECT_EQ(log_.runs.size(), 9U);
}

TEST_F(EngineConvolutionTest, OtherBatchesRunByAten) {
  Subject subject(layers[0], at::kFloat, at::kFloat);
  subject.run(*kernel(subject, PassPlans{subject.layer.images + 1, {"plain", "plain", "plain"}}));
  subject.expectRight();
  EXPECT_EQ(log_.made, 0);
}

TEST_F(EngineConvolutionTest, WhatIsMissingOrRefusesRunsByAten) {
  Subject subject(layers[0], at::kFloat, at::kFloat);
  subject.run(*kernel(subject, {"refusing", "unheard of", "plain"}));
  subject.expectRight();
  EXPECT_EQ(log_.runs, std::vector<std::string>{"plain"});
  const auto none = [](const ConvolutionProblem&) -> std::unique_ptr<ExecutionPlans> { return nullptr; };
  Subject other(layers[0], at::kFloat, at::kFloat);
  other.run(*makeCudnnConvolution(other.layer.geometry, other.parameters(),
                                  {other.layer.images, {"plain", "plain", "plain"}}, none));
  other.expectRight();
}

TEST_F(EngineConvolutionTest, MisalignedMemoryRunsByAten) {
  Subject subject(layers[0], at::kFloat, at::kFloat);
  const at::Tensor room = at::empty({subject.x.numel() + 1});
  at::Tensor shifted = room.narrow(0, 1, subject.x.numel()).as_strided(subject.x.sizes(), subject.x.strides());
  shifted.copy_(subject.x);
  subject.x = shifted;
  subject.run(*kernel(subject, {"plain", "ATen", "plain"}));
  subject.expectRight();
  EXPECT_TRUE(log_.runs.empty());
}

TEST_F(EngineConvolutionTest, ServesOnlyWhatItIsFor) {
  const Subject subject(layers[0], at::kFloat, at::kFloat);
  const auto serves = [](const ConvolutionGeometry& geometry, const at::Tensor& weight) {
    return makeCudnnConvolution(geometry, {weight, {}, at::empty_like(weight), {}}, {1, {}}) != nullptr;
  };
  const ConvolutionGeometry same{1, 1, 1, 1, 1, 1, 1};
  ConvolutionGeometry unequal = same, blocked = same;
  unequal.bottom = 2, blocked.blockedOutput = true;
  EXPECT_TRUE(serves(same, subject.weight));
  EXPECT_FALSE(serves(unequal, subject.weight));
  EXPECT_FALSE(serves(blocked, subject.weight));
  EXPECT_FALSE(serves(same, subject.weight.contiguous()));
  EXPECT_FALSE(serves(same, subject.weight.to(at::kDouble)));
}

TEST(ConvolutionProblem, ItsTextTellsAllThatEnginesDependOn) {
  const ConvolutionGeometry same{1, 1, 1, 1, 1, 1, 1};
  const std::array<int64_t, 4> x{2, 16, 9, 7}, weight{24, 16, 3, 3};
  const auto text = [&](const ConvolutionGeometry& g) {
    return problemOf(ConvolutionPass::forward, g, at::kBFloat16, x, weight).text();
  };
  EXPECT_EQ(text(same),
            "convolution, forward, 2 x 16x9x7->24 kernel 3x3 stride 1x1 padding 1,1,1,1 groups 1 nhwc bf16");
  ConvolutionGeometry strided = same, padded = same;
  strided.strideW = 2, padded.left = padded.right = 0;
  EXPECT_NE(text(strided), text(same));
  EXPECT_NE(text(padded), text(same));
  EXPECT_NE(problemOf(ConvolutionPass::weightGradient, same, at::kBFloat16, x, weight).text(), text(same));
  EXPECT_NE(problemOf(ConvolutionPass::forward, same, at::kHalf, x, weight).text(), text(same));
  ConvolutionProblem summed = problemOf(ConvolutionPass::forward, same, at::kBFloat16, x, weight);
  summed.sums = true;
  EXPECT_EQ(summed.text(),
            "convolution, forward with sums, 2 x 16x9x7->24 kernel 3x3 stride 1x1 padding 1,1,1,1 groups 1 nhwc bf16");
  ConvolutionProblem fp32 = problemOf(ConvolutionPass::forward, same, at::kFloat, x, weight), tf32 = fp32;
  fp32.tf32 = false, tf32.tf32 = true;
  EXPECT_NE(fp32.text(), tf32.text());
}

// In 16 bits as PyTorch, which bars such plans in fp32 only.
TEST(ConvolutionProblem, BarsPlansThatComputeOtherwise) {
  using enum NumericalNote;
  using Notes = std::vector<NumericalNote>;
  const auto barred = [](Element type, bool tf32) {
    ConvolutionProblem problem;
    problem.type = type, problem.tf32 = tf32;
    return problem.barredNotes();
  };
  EXPECT_EQ(barred(Element::fp32, false), (Notes{roundedFactors, shorterSums, tensorCores}));
  EXPECT_EQ(barred(Element::fp32, true), (Notes{roundedFactors, shorterSums}));
  EXPECT_EQ(barred(Element::bf16, false), Notes{roundedFactors});
  EXPECT_EQ(barred(Element::fp16, false), Notes{roundedFactors});
}

/// The tensor that a pass writes.
const at::Tensor& written(ConvolutionPass pass, const ConvolutionTensors& t) {
  return pass == ConvolutionPass::forward ? t.y : pass == ConvolutionPass::inputGradient ? t.x : t.weight;
}

TEST(CudnnEngines, TheFirstThatAreReadyComputeThePass) {
  if (cudaDeviceCount() == 0 || cudnnVersions().empty()) GTEST_SKIP() << "no GPU, or a build without cuDNN's frontend";
  const at::Device gpu(at::kCUDA, 0);
  allowTf32(false);
  for (const at::ScalarType type : {at::kFloat, at::kBFloat16, at::kHalf}) {
    for (const Layer& layer : layers) {
      for (const auto pass :
           {ConvolutionPass::forward, ConvolutionPass::inputGradient, ConvolutionPass::weightGradient}) {
        Subject subject(layer, type, type);
        subject.bias = at::Tensor();
        const Results right = subject.exact();
        const ConvolutionTensors tensors{subject.x.to(gpu), subject.weight.to(gpu), subject.dy.to(gpu)};
        const auto problem = problemOf(pass, layer.geometry, type, layer.x(), layer.weight());
        int served = 0;
        for (const TuningCandidate& candidate :
             convolutionCandidates(pass, layer.geometry, tensors, cudnnConvPlans(problem))) {
          if (served == candidatesTried - 1) break;
          if (candidate.name == atenName || !candidate.prepare()) continue;
          written(pass, tensors).fill_(99);
          candidate.run();
          const ConvolutionTensors all{right.x, right.weight, right.y};
          const at::Tensor& expected = written(pass, all);
          EXPECT_LE(relativeError(written(pass, tensors), expected), type == at::kFloat ? 1e-4 : 2e-2)  // as isNear()
              << layer.name << ", " << problem.text() << ", " << candidate.name;
          ++served;
        }
        EXPECT_TRUE(served > 0 || layer.geometry.groups > 1) << problem.text();
      }
    }
  }
}

}  // namespace
}  // namespace tandem
