#include "kernels/engine_norm.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include "base/text.h"
#include "support/relative_error.h"
#include "support/stand_in_engines.h"
#include "support/test_devices.h"

namespace tandem {
namespace {

constexpr auto channelsLast = at::MemoryFormat::ChannelsLast;
constexpr NormActOptions training{1e-5, 0.1, true, true};

at::Tensor random(at::ScalarType type) { return at::randn({3, 16, 5, 4}).to(type).contiguous(channelsLast); }

NormSubject subjectOf(at::ScalarType type, bool residual) {
  at::manual_seed(11);
  const auto perChannel = [](double least) { return at::rand({16}) + least; };
  return {random(type),
          residual ? random(type) : at::Tensor(),
          random(type),
          {perChannel(0.5), perChannel(-0.5), perChannel(-0.5), perChannel(0.5)},
          training};
}

NormParameters copied(const NormParameters& p) {
  return {p.scale, p.shift, p.runningMean.clone(), p.runningVar.clone()};
}

class EngineNormTest : public testing::Test {
 protected:
  NormEnginesOf engines() {
    return [this](const NormProblem& problem) -> std::unique_ptr<Engines> {
      return std::make_unique<StandInEngines>(problem, log_);
    };
  }
  bool serves(const NormSubject& s, const NormEngines& chosen) {
    return EngineNorm(chosen, engines()).serves(s.x, s.residual, s.parameters, s.options);
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
      EngineNorm norm({3, "plain", "roomy"}, engines());
      ASSERT_TRUE(norm.serves(s.x, s.residual, theirs, training));
      log_.runs.clear();
      EXPECT_LE(relativeError(norm.forward(s.x, s.residual, theirs, training, saved), expected), tolerance);
      EXPECT_LE(relativeError(theirs.runningMean, own.runningMean), 1e-5);
      EXPECT_LE(relativeError(theirs.runningVar, own.runningVar), 1e-5);
      EXPECT_FALSE(saved.y.defined()) << "the mask stands for it";
      const at::Tensor other = random(type);
      const NormActGradients right = normActBackward({s.dy, other}, ownSaved, residual, training);
      const NormActGradients found = norm.backward({s.dy, other}, saved, residual, training);
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
  const NormEngines chosen{3, "plain", "plain"};
  const NormSubject s = subjectOf(at::kFloat, true);
  EXPECT_TRUE(serves(s, chosen));
  EXPECT_FALSE(serves(s, {}));
  EXPECT_FALSE(serves(s, {4, "plain", "plain"}));
  EXPECT_FALSE(serves(s, {3, "refusing", "plain"}));
  EXPECT_FALSE(serves(s, {3, "plain", "unheard of"}));
  NormSubject linear = s, evaluation = s, planes = s, otherResidual = s, shifted = s;
  linear.options.relu = false, evaluation.options.training = false;
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
    const std::shared_ptr<Engines> forward = engines()(normProblemOf(false, s.x, residual, s.options));
    const auto run = [&](std::span<const at::Tensor> tensors) { runEngine(*forward, 0, 0, tensors); };
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

TEST(CudnnNorm, EnginesThatAreReadyAreRight) {
  if (cudaDeviceCount() == 0 || engineLibrary().empty()) GTEST_SKIP() << "no GPU, or a build without cuDNN's frontend";
  for (const at::ScalarType type : {at::kBFloat16, at::kHalf}) {
    for (const bool residual : {false, true}) {
      NormSubject s = subjectOf(type, residual);
      for (at::Tensor* tensor : {&s.x, &s.residual, &s.dy, &s.parameters.scale, &s.parameters.shift,
                                 &s.parameters.runningMean, &s.parameters.runningVar}) {
        if (tensor->defined()) *tensor = tensor->to(at::Device(at::kCUDA, 0));
      }
      NormProblem problem = normProblemOf(false, s.x, residual, s.options);
      const std::shared_ptr<Engines> forward = cudnnNorm(problem);
      problem.backward = true;
      const std::shared_ptr<Engines> backward = cudnnNorm(problem);
      if (!forward || !backward) GTEST_SKIP() << "cuDNN does not serve it on this GPU";
      for (const TuningCandidate& candidate : normForwardCandidates(s, forward)) {
        if (!candidate.isRight || !candidate.prepare()) continue;
        candidate.run();
        EXPECT_TRUE(candidate.isRight()) << candidate.name;
      }
      const auto bytes = forward->prepare(0);
      if (!bytes) continue;
      const auto run = [&](std::span<const at::Tensor> tensors) { runEngine(*forward, 0, *bytes, tensors); };
      for (const TuningCandidate& candidate : normBackwardCandidates(s, run, backward)) {
        if (!candidate.isRight || !candidate.prepare()) continue;
        candidate.run();
        EXPECT_TRUE(candidate.isRight()) << candidate.name;
      }
    }
  }
}

}  // namespace
}  // namespace tandem
