// Batch-norm from sums of its channels that somebody else took.
#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <array>
#include <cmath>

#include "base/text.h"
#include "kernels/conv/nchwc.h"
#include "norm_act_ways.h"

namespace tandem {
namespace {

constexpr auto channelsLast = at::MemoryFormat::ChannelsLast;

/// What sums are taken about.
enum class About { zero, aGuess, theMean };

at::Tensor meanOf(const at::Tensor& x) { return x.to(at::kDouble).mean({0, 2, 3}); }

/// In fp64, and then rounded.
ChannelStats sumsOf(const at::Tensor& x, About about) {
  ChannelStats sums;
  if (about == About::aGuess) sums.about = (meanOf(x) + 0.5).to(at::kFloat);
  if (about == About::theMean) sums.about = meanOf(x).to(at::kFloat);
  at::Tensor distances = x.to(at::kDouble);
  if (sums.about.defined()) distances = distances - sums.about.view({1, -1, 1, 1});
  sums.sum = distances.sum({0, 2, 3}).to(at::kFloat);
  sums.squares = distances.square().sum({0, 2, 3}).to(at::kFloat);
  return sums;
}

int64_t valuesOf(const at::Tensor& x) { return x.numel() / x.size(1); }

/// By channel, as channel_sums.h says it of sums that were rounded to fp32: at most this part of the variance is wrong.
at::Tensor boundOf(const at::Tensor& x, const ChannelStats& sums) {
  const at::Tensor exact = x.to(at::kDouble), mean = meanOf(x), variance = exact.var({0, 2, 3}, /*unbiased=*/false);
  const at::Tensor distance = sums.about.defined() ? mean - sums.about : mean;
  return 0x1p-24 * (1 + 3 * distance.square() / variance);
}

TEST(ChannelMoments, AreExactUpToWhatSumsLose) {
  at::manual_seed(2);
  for (const double far : {0.0, 3.0, 1000.0}) {
    const at::Tensor x = far + at::randn({4, 24, 9, 7});
    for (const About about : {About::zero, About::aGuess, About::theMean}) {
      SCOPED_TRACE(concat("mean ", far, ", about ", static_cast<int>(about)));
      const ChannelStats sums = sumsOf(x, about);
      const ChannelMoments found = momentsOf(sums, valuesOf(x));
      const at::Tensor variance = x.to(at::kDouble).var({0, 2, 3}, /*unbiased=*/false);
      EXPECT_LE(relativeError(found.mean, meanOf(x)), 1e-6);
      EXPECT_TRUE((found.variance / variance - 1).abs().le(1.001 * boundOf(x, sums)).all().item<bool>());
      if (about == About::theMean) {
        EXPECT_LE(relativeError(found.variance, variance), 1e-6) << "nothing cancels";
      }
    }
  }
}

TEST(ChannelMoments, AVarianceIsNeverNegativeAndNotANumberStays) {
  const ChannelStats sums{at::tensor({3.0F, NAN, 3.0F}), at::tensor({2.9F, 3.0F, NAN})};
  const ChannelMoments found = momentsOf(sums, 3);
  EXPECT_EQ(found.mean[0].item<double>(), 1);
  EXPECT_EQ(found.variance[0].item<double>(), 0);
  EXPECT_TRUE(found.variance[1].isnan().item<bool>());
  EXPECT_TRUE(found.variance[2].isnan().item<bool>());
}

using Case = std::tuple<std::array<int64_t, 4>, at::ScalarType, bool /*relu*/, bool /*residual*/>;

class NormActFromSums : public testing::TestWithParam<Case> {
 protected:
  NormActFromSums() {
    const auto shape = std::get<0>(GetParam());
    const auto type = std::get<1>(GetParam());
    at::manual_seed(11);
    const auto images = [&] { return at::randn(shape).to(type).contiguous(channelsLast); };
    x_ = (3 + 2 * images()).to(type);
    if (std::get<3>(GetParam())) residual_ = images();
    gradient_ = images();
    options_.activation = std::get<2>(GetParam()) ? Activation::relu : Activation::none;
    parameters_ = {at::rand({shape[1]}) + 0.5, at::randn({shape[1]}), at::randn({shape[1]}),
                   at::rand({shape[1]}) + 0.5};
  }

  struct Results {
    at::Tensor y, dx, runningMean, runningVar;
  };

  NormParameters parametersOn(at::Device device) const {
    const auto copied = [&](const at::Tensor& t) { return t.to(device, t.scalar_type(), false, /*copy=*/true); };
    return {copied(parameters_.scale), copied(parameters_.shift), copied(parameters_.runningMean),
            copied(parameters_.runningVar)};
  }
  at::Tensor placed(const at::Tensor& t, const Way& way, bool blocked) const {
    if (!t.defined()) return t;
    return blocked ? toBlocked(t) : t.to(way.device);
  }

  /// By the way's kernels, with its own statistics or from sums.
  Results run(const Way& way, bool blocked, const ChannelStats* given) const {
    const NormParameters parameters = parametersOn(way.device);
    const at::Tensor x = placed(x_, way, blocked), residual = placed(residual_, way, blocked);
    NormActSaved saved;
    at::Tensor y;
    if (given == nullptr) {
      y = way.forward(x, residual, parameters, options_, saved);
    } else {
      ChannelStats sums{given->sum.to(way.device), given->squares.to(way.device)};
      if (given->about.defined()) sums.about = given->about.to(way.device);
      way.statistics(x, sums, parameters, options_, saved);
      y = way.again(x, residual, options_, saved);
    }
    const auto plain = [&](const at::Tensor& t) { return blocked ? fromBlocked(t, x_.size(0)) : t; };
    const at::Tensor kept = plain(y).clone(), gradient = placed(gradient_, way, blocked);
    const NormActGradients back = way.backward({gradient}, saved, residual_.defined(), options_);
    return {kept, plain(back.x).clone(), parameters.runningMean, parameters.runningVar};
  }

  /// By ATen in fp64, without gradients.
  Results reference() const {
    const auto wide = [](const at::Tensor& t) { return t.defined() ? t.to(at::kDouble) : t; };
    const NormParameters parameters{wide(parameters_.scale), wide(parameters_.shift), wide(parameters_.runningMean),
                                    wide(parameters_.runningVar)};
    NormActSaved saved;
    const at::Tensor y = normActReference(wide(x_), wide(residual_), parameters, options_, saved);
    return {y, {}, parameters.runningMean, parameters.runningVar};
  }

  /// Two roundings of the type; in fp32 1e-5. About 0 what the sums lose on top of it, of the worst channel.
  void expectClose(const Results& found, const Results& expected, double lost) const {
    const auto type = std::get<1>(GetParam());
    const double bound = (type == at::kFloat ? 1e-5 : type == at::kHalf ? 0x1p-10 : 0x1p-7) + lost;
    EXPECT_LE(relativeError(found.y, expected.y), bound);
    EXPECT_LE(relativeError(found.runningMean, expected.runningMean), 1e-5 + lost);
    EXPECT_LE(relativeError(found.runningVar, expected.runningVar), 1e-5 + lost);
  }

  at::Tensor x_, residual_, gradient_;
  NormParameters parameters_;
  NormActOptions options_;
};

TEST_P(NormActFromSums, EqualsTheOneThatReadsX) {
  const auto type = std::get<1>(GetParam());
  const Results exact = reference();
  for (const Way& way : ways()) {
    for (const bool blocked : {false, true}) {
      if (blocked && (way.simulated || !way.device.is_cpu() || !canBlock(x_.size(1)))) continue;
      for (const About about : {About::zero, About::aGuess, About::theMean}) {
        SCOPED_TRACE(concat(way.name, blocked ? ", blocked" : "", ", about ", static_cast<int>(about)));
        const ChannelStats sums = sumsOf(x_, about);
        const Results found = run(way, blocked, &sums), own = run(way, blocked, nullptr);
        expectClose(found, exact, boundOf(x_, sums).max().item<double>());
        if (about != About::theMean || type != at::kFloat) continue;
        EXPECT_LE(relativeError(found.dx, own.dx), 1e-4) << "backward reads the statistics that forward left";
      }
    }
  }
}

std::string nameOf(const testing::TestParamInfo<Case>& row) {
  const auto& [shape, type, relu, residual] = row.param;
  return concat(shape[0], "x", shape[1], "x", shape[2], "x", shape[3], "_", c10::toString(type), relu ? "_relu" : "",
                residual ? "_residual" : "");
}

// Whole vectors and blocks, one channel, one image, both, odd sizes; more channels than a GPU's block holds.
INSTANTIATE_TEST_SUITE_P(
    Shapes, NormActFromSums,
    testing::Combine(testing::Values(std::array<int64_t, 4>{4, 64, 7, 5}, std::array<int64_t, 4>{5, 1, 9, 3},
                                     std::array<int64_t, 4>{1, 1, 3, 5}, std::array<int64_t, 4>{1, 37, 3, 3},
                                     std::array<int64_t, 4>{2, 264, 3, 5}),
                     testing::Values(at::kFloat, at::kBFloat16, at::kHalf), testing::Bool(), testing::Bool()),
    nameOf);

// What --recompute repeats is what the sums made, though x's own statistics would differ in the last bits.
TEST(NormActStatistics, AgainGivesTheSameBits) {
  for (const Way& way : ways()) {
    SCOPED_TRACE(way.name);
    at::manual_seed(4);
    const at::Tensor x = at::randn({6, 48, 15, 10}).contiguous(channelsLast);
    const at::Tensor there = x.to(way.device), ones = at::ones({48}, way.device);
    const NormParameters parameters{ones, ones * 0.1, at::zeros_like(ones), ones.clone()};
    NormActOptions options;
    options.activation = Activation::relu;
    ChannelStats sums = sumsOf(x, About::zero);
    sums.sum = (sums.sum + 1).to(way.device), sums.squares = sums.squares.to(way.device);
    NormActSaved saved;
    way.statistics(there, sums, parameters, options, saved);
    const at::Tensor y = way.again(there, {}, options, saved), running = parameters.runningVar.clone();
    EXPECT_TRUE(way.again(there, {}, options, saved).equal(y));
    EXPECT_TRUE(parameters.runningVar.equal(running));
    NormActSaved own;
    EXPECT_FALSE(way.forward(there, {}, parameters, options, own).equal(y)) << "the sums were those of another";
  }
}

TEST(NormActStatistics, AreForTrainingAndForKernelsAlone) {
  const at::Tensor x = at::randn({2, 16, 4, 4}), ones = at::ones({16});
  const ChannelStats sums = sumsOf(x, About::zero);
  const NormParameters parameters{ones, ones, ones.clone(), ones.clone()};
  NormActSaved saved;
  EXPECT_ANY_THROW(normActStatistics(x, sums, parameters, {}, saved)) << "NCHW";
  NormActOptions evaluation;
  evaluation.training = false;
  EXPECT_ANY_THROW(normActStatistics(x.contiguous(channelsLast), sums, parameters, evaluation, saved));
  EXPECT_NO_THROW(normActStatistics(x.contiguous(channelsLast), sums, parameters, {}, saved));
}

}  // namespace
}  // namespace tandem
