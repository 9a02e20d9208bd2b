#include "kernels/cudnn/batch_norm.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include "base/text.h"
#include "machine/gpu/gpu_facts.h"
#include "support/relative_error.h"
#include "support/stand_in_engines.h"
#include "support/test_devices.h"

namespace tandem {
namespace {

constexpr auto channelsLast = at::MemoryFormat::ChannelsLast;
constexpr NormActOptions training{1e-5, 0.1, Activation::relu, true};

at::Tensor random(at::ScalarType type, at::IntArrayRef shape = {3, 16, 5, 4}) {
  return at::randn(shape).to(type).contiguous(channelsLast);
}

NormSubject subjectOf(at::ScalarType type, bool residual, at::IntArrayRef shape = {3, 16, 5, 4}) {
  at::manual_seed(11);
  const auto perChannel = [](double least) { return at::rand({16}) + least; };
  return {random(type, shape),
          residual ? random(type, shape) : at::Tensor(),
          {random(type, shape)},
          {perChannel(0.5), perChannel(-0.5), perChannel(-0.5), perChannel(0.5)},
          training};
}

NormParameters copied(const NormParameters& p) {
  return {p.scale, p.shift, p.runningMean.clone(), p.runningVar.clone()};
}

class EngineNormTest : public testing::Test {
 protected:
  NormPlansOf engines() {
    return [this](const NormProblem& problem) -> std::unique_ptr<ExecutionPlans> {
      return std::make_unique<StandInPlans>(problem, log_);
    };
  }
  bool serves(const NormSubject& s, const NormPlans& chosen) {
    return CudnnBatchNorm(chosen, engines()).serves(s.x, s.residual, s.parameters, s.options);
  }

  EngineLog log_;
};

TEST_F(EngineNormTest, ForwardAndBackwardAreThoseOfTheKernels) {
  for (const at::ScalarType type : {at::kFloat, at::kBFloat16, at::kHalf}) {
    for (const bool residual : {false, true}) {
      const NormSubject s = subjectOf(type, residual);
      const double tolerance = type == at::kFloat ? 1e-5 : type == at::kHalf ? 2e-3 : 1.2e-2;
      const NormParameters own = copied(s.parameters), theirs = copied(s.parameters);
      NormActSaved ownSaved, saved;
      const at::Tensor expected = normAct(s.x, s.residual, own, training, ownSaved);
      CudnnBatchNorm norm({3, "plain", "roomy"}, engines());
      ASSERT_TRUE(norm.serves(s.x, s.residual, theirs, training));
      log_.runs.clear();
      EXPECT_LE(relativeError(norm.forward(s.x, s.residual, theirs, training, saved), expected), tolerance);
      EXPECT_LE(relativeError(theirs.runningMean, own.runningMean), 1e-5);
      EXPECT_LE(relativeError(theirs.runningVar, own.runningVar), 1e-5);
      EXPECT_FALSE(saved.y.defined()) << "the mask stands for it";
      const at::Tensor other = random(type);
      const NormActGradients right = normActBackward({s.outputGradients.front(), other}, ownSaved, residual, training);
      const NormActGradients found = norm.backward({s.outputGradients.front(), other}, saved, residual, training);
      EXPECT_LE(relativeError(found.x, right.x), tolerance);
      EXPECT_LE(relativeError(found.scale, right.scale), tolerance);
      EXPECT_LE(relativeError(found.shift, right.shift), tolerance);
      EXPECT_EQ(found.residual.defined(), residual);
      if (residual) {
        EXPECT_LE(relativeError(found.residual, right.residual), tolerance);
      }
      EXPECT_EQ(log_.runs, (std::vector<std::string>{"plain", "roomy"}));
      EXPECT_TRUE(log_.workspaceFits);
    }
  }
}

TEST_F(EngineNormTest, ServesOnlyWhatItWasChosenFor) {
  const NormPlans chosen{3, "plain", "plain"};
  const NormSubject s = subjectOf(at::kFloat, true);
  EXPECT_TRUE(serves(s, chosen));
  EXPECT_FALSE(serves(s, {}));
  EXPECT_FALSE(serves(s, {4, "plain", "plain"}));
  EXPECT_FALSE(serves(s, {3, "refusing", "plain"}));
  EXPECT_FALSE(serves(s, {3, "plain", "unheard of"}));
  NormSubject linear = s, evaluation = s, planes = s, otherResidual = s, shifted = s;
  linear.options.activation = Activation::none, evaluation.options.training = false;
  planes.x = s.x.contiguous(), otherResidual.residual = s.residual.to(at::kHalf);
  const at::Tensor room = at::empty({s.x.numel() + 1});
  shifted.x = room.narrow(0, 1, s.x.numel()).as_strided(s.x.sizes(), s.x.strides());
  for (const NormSubject& other : {linear, evaluation, planes, otherResidual, shifted}) {
    EXPECT_FALSE(serves(other, chosen));
  }
}

TEST_F(EngineNormTest, CandidatesAreComparedWithTheKernels) {
  for (const bool residual : {false, true}) {
    const NormSubject s = subjectOf(at::kBFloat16, residual);
    const at::Tensor before = s.parameters.runningMean.clone();
    NormProblem problem = normProblemOf(false, s.x, residual, s.options);
    const auto forwards = normForwardCandidates(s, engines()(problem));
    problem.backward = true;
    const std::shared_ptr<ExecutionPlans> forward = engines()(normProblemOf(false, s.x, residual, s.options));
    const auto run = [&](std::span<const at::Tensor> tensors) { executePlan(*forward, 0, 0, tensors); };
    const auto backwards = normBackwardCandidates(s, run, engines()(problem));
    for (const auto* candidates : {&forwards, &backwards}) {
      ASSERT_EQ(candidates->size(), 4U) << "the kernels, then three engines";
      EXPECT_EQ(candidates->front().name, ownKernels);
      candidates->front().run();
      for (const char* wrong : {"", "plain"}) {
        log_.wrong = concat(wrong);
        const TuningCandidate& plain = (*candidates)[1];
        EXPECT_TRUE(plain.prepare().has_value());
        plain.run();
        EXPECT_EQ(plain.isRight(), log_.wrong.empty());
      }
      log_.wrong.clear();
      EXPECT_FALSE((*candidates)[3].prepare().has_value());
    }
    EXPECT_TRUE(at::equal(before, s.parameters.runningMean)) << "trials leave the statistics alone";
  }
}

/// The gradients that readers of the output give are added by the kernels in passing; a plan needs their sum in each
/// run.
TEST_F(EngineNormTest, TrialsAreOfAllGradients) {
  for (const int readers : {1, 2, 3}) {
    NormSubject s = subjectOf(at::kFloat, true);
    while (std::ssize(s.outputGradients) < readers) s.outputGradients.push_back(random(at::kFloat));
    std::vector<at::Tensor> copies;
    for (const at::Tensor& gradient : s.outputGradients) copies.push_back(gradient.clone());
    NormProblem problem = normProblemOf(false, s.x, true, s.options);
    const std::shared_ptr<ExecutionPlans> forward = engines()(problem);
    problem.backward = true;
    const auto run = [&](std::span<const at::Tensor> tensors) { executePlan(*forward, 0, 0, tensors); };
    const auto candidates = normBackwardCandidates(s, run, engines()(problem));
    candidates.front().run();
    for (int again = 0; again < 2; ++again) {
      EXPECT_TRUE(candidates[1].prepare().has_value());
      candidates[1].run();
      EXPECT_TRUE(candidates[1].isRight()) << readers << " readers";
    }
    for (size_t i = 0; i < copies.size(); ++i) EXPECT_TRUE(at::equal(copies[i], s.outputGradients[i]));
    // Another sum is another result, so the sum belongs to the run.
    s.outputGradients.front().mul_(-3);
    EXPECT_FALSE(candidates[1].isRight());
    candidates[1].run();
    EXPECT_TRUE(candidates[1].isRight());
  }
}

/// The shape of the frontend's own test of batch-norm + ReLU with a mask (test_bn_relu_with_mask).
NormSubject subjectOnGpu(at::ScalarType type, bool residual) {
  NormSubject s = subjectOf(type, residual, {4, 16, 56, 56});
  for (at::Tensor* tensor : {&s.x, &s.residual, &s.outputGradients.front(), &s.parameters.scale, &s.parameters.shift,
                             &s.parameters.runningMean, &s.parameters.runningVar}) {
    if (tensor->defined()) *tensor = tensor->to(at::Device(at::kCUDA, 0));
  }
  return s;
}

/// Runs the engines that are ready, as many as are tried beside the kernels, and says how many.
int expectReadyOnesAreRight(const std::vector<TuningCandidate>& candidates) {
  int ready = 0;
  for (const TuningCandidate& candidate : candidates) {
    if (ready == candidatesTried - 1) break;
    if (!candidate.isRight || !candidate.prepare()) continue;
    candidate.run();
    EXPECT_TRUE(candidate.isRight()) << candidate.name;
    ++ready;
  }
  return ready;
}

/// The first engine that is ready.
RunForward firstReady(const std::shared_ptr<ExecutionPlans>& engines) {
  for (size_t i = 0; i < engines->names().size(); ++i) {
    if (const auto bytes = engines->prepare(i)) {
      return [=, needed = *bytes](std::span<const at::Tensor> tensors) { executePlan(*engines, i, needed, tensors); };
    }
  }
  return {};
}

// cuDNN's documentation names both patterns, BnAddRelu and DReluForkDBn (developer guide, graph API, specialized
// runtime fusion engines): batch-norm, with a sum or without, ReLU and its mask in NHWC, in fp16 and bf16 with channels
// that are a multiple of 8. The frontend's samples (samples/cpp/norm/batchnorm.cpp) ask for compute capability 8.0. A
// build with the frontend has cuDNN 9.
TEST(CudnnNorm, IsServedWhereDocumentedAndRight) {
  if (cudaDeviceCount() == 0 || cudnnVersions().empty()) GTEST_SKIP() << "no GPU, or a build without cuDNN's frontend";
  if (cudaFacts().gpus.front().capability < 80) GTEST_SKIP() << "cuDNN does not promise it below 8.0";
  for (const at::ScalarType type : {at::kBFloat16, at::kHalf}) {
    for (const bool residual : {false, true}) {
      const NormSubject s = subjectOnGpu(type, residual);
      NormProblem problem = normProblemOf(false, s.x, residual, s.options);
      SCOPED_TRACE(concat(problem.text(), ", ", cudnnVersions()));
      const std::shared_ptr<ExecutionPlans> forward = cudnnNormPlans(problem);
      problem.backward = true;
      const std::shared_ptr<ExecutionPlans> backward = cudnnNormPlans(problem);
      EXPECT_NE(forward, nullptr) << "no engine of the forward pass";
      EXPECT_NE(backward, nullptr) << "no engine of the backward pass";
      if (!forward || !backward) continue;
      EXPECT_GT(expectReadyOnesAreRight(normForwardCandidates(s, forward)), 0) << "of the forward pass";
      const RunForward run = firstReady(forward);
      if (!run) continue;
      EXPECT_GT(expectReadyOnesAreRight(normBackwardCandidates(s, run, backward)), 0) << "of the backward pass";
    }
  }
}

}  // namespace
}  // namespace tandem
