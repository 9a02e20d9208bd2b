#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <cmath>

#include "base/text.h"
#include "norm_act_ways.h"

namespace tandem {
namespace {

/// No scale and no shift.
NormParameters plainParameters(int64_t channels, at::Device device) {
  const at::Tensor zeros = at::zeros({channels}, device), ones = at::ones({channels}, device);
  return {ones, zeros, zeros.clone(), ones.clone()};
}

at::Tensor imagesOn(at::Device device, at::IntArrayRef sizes) {
  return at::randn(sizes).contiguous(at::MemoryFormat::ChannelsLast).to(device);
}

NormActOptions withRelu() {
  NormActOptions options;
  options.activation = Activation::relu;
  return options;
}

TEST(NormActExactness, AMeanFarFromZeroLosesNothing) {
  for (const Way& way : ways()) {
    SCOPED_TRACE(way.name);
    at::manual_seed(1);
    const at::Tensor x = 1000 + imagesOn(way.device, {8, 24, 30, 30});
    NormActSaved saved;
    way.forward(x, {}, plainParameters(24, way.device), {}, saved);
    const at::Tensor exact = x.to(at::kDouble).var({0, 2, 3}, /*unbiased=*/false);
    EXPECT_LE(relativeError(saved.inverseDeviation, (exact + 1e-5).rsqrt()), 1e-5);
  }
}

// More rows than the least chunks of as many blocks as a GPU is given, about a mean that is far from zero.
TEST(NormActExactness, ManyChunksLoseNothing) {
  for (const Way& way : ways()) {
    SCOPED_TRACE(way.name);
    at::manual_seed(6);
    const at::Tensor x = 100 + imagesOn(way.device, {5, 1, 700, 701}), dy = imagesOn(way.device, {5, 1, 700, 701});
    NormActSaved saved, exact;
    const at::Tensor y = way.forward(x, {}, plainParameters(1, way.device), {}, saved);
    NormParameters wide = plainParameters(1, way.device);
    for (at::Tensor* values : {&wide.scale, &wide.shift, &wide.runningMean, &wide.runningVar}) {
      *values = values->to(at::kDouble);
    }
    EXPECT_LE(relativeError(y, normActReference(x.to(at::kDouble), {}, wide, {}, exact)), 1e-5);
    const NormActGradients found = way.backward({dy}, saved, false, {});
    const NormActGradients right = normActBackwardReference({dy.to(at::kDouble)}, exact, false, {});
    EXPECT_LE(relativeError(found.x, right.x), 1e-5);
    EXPECT_LE(relativeError(found.scale, right.scale), 1e-3) << "a small difference of large sums";
    EXPECT_LE(relativeError(found.shift, right.shift), 1e-3);
  }
}

TEST(NormActExactness, NotANumberIsNotHiddenByTheRelu) {
  for (const Way& way : ways()) {
    SCOPED_TRACE(way.name);
    at::Tensor x = imagesOn(way.device, {2, 16, 4, 4});
    x[0][3][1][1] = std::nan("");
    NormActSaved saved;
    const at::Tensor y = way.forward(x, {}, plainParameters(16, way.device), withRelu(), saved);
    EXPECT_TRUE(y.select(1, 3).isnan().all().item<bool>());
    EXPECT_FALSE(y.select(1, 4).isnan().any().item<bool>());
  }
}

// Outputs about zero, where factor and offset cancel: one rounding more or less would change their signs.
TEST(NormActExactness, BackwardRecomputesTheMaskOfForwardToTheLastBit) {
  for (const Way& way : ways()) {
    SCOPED_TRACE(way.name);
    at::manual_seed(3);
    NormParameters parameters = plainParameters(24, way.device);
    parameters.runningMean = at::randn({24}, way.device);
    parameters.runningVar = at::rand({24}, way.device) + 0.5;
    NormActOptions options = withRelu();
    options.training = false;
    const at::Tensor near = 1e-7 * imagesOn(way.device, {4, 24, 20, 20}) + 1;
    const at::Tensor x = near * parameters.runningMean.view({1, -1, 1, 1});
    NormActSaved saved;
    const at::Tensor y = way.forward(x, {}, parameters, options, saved);
    const at::Tensor dx = way.backward({at::ones_like(x)}, saved, false, options).x;
    EXPECT_TRUE((dx != 0).equal(y > 0));
    const double share = (y > 0).to(at::kFloat).mean().item<double>();
    EXPECT_TRUE(share > 0.2 && share < 0.8) << share;
  }
}

TEST(NormActExactness, AgainAndTheNextTimeAreTheSameBits) {
  for (const Way& way : ways()) {
    SCOPED_TRACE(way.name);
    at::manual_seed(4);
    const at::Tensor x = imagesOn(way.device, {6, 48, 30, 20}), residual = imagesOn(way.device, {6, 48, 30, 20});
    const NormParameters parameters = plainParameters(48, way.device), same = plainParameters(48, way.device);
    NormActSaved saved, next;
    const at::Tensor y = way.forward(x, residual, parameters, withRelu(), saved);
    const at::Tensor running = parameters.runningVar.clone();
    EXPECT_TRUE(way.again(x, residual, withRelu(), saved).equal(y));
    EXPECT_TRUE(parameters.runningVar.equal(running));
    EXPECT_TRUE(way.forward(x, residual, same, withRelu(), next).equal(y));
    EXPECT_TRUE(same.runningVar.equal(running));
    const auto first = way.backward({x, residual}, saved, true, withRelu());
    const auto second = way.backward({x, residual}, next, true, withRelu());
    EXPECT_TRUE(first.x.equal(second.x));
    EXPECT_TRUE(first.scale.equal(second.scale));
  }
}

// Values from an odd place in memory on, where no wide access is allowed.
TEST(NormActExactness, AnyPlaceInMemoryServes) {
  for (const Way& way : ways()) {
    for (const at::ScalarType type : {at::kFloat, at::kBFloat16, at::kHalf}) {
      SCOPED_TRACE(concat(way.name, ", ", c10::toString(type)));
      at::manual_seed(5);
      const at::Tensor x = imagesOn(way.device, {2, 16, 7, 6}).to(type),
                       dy = imagesOn(way.device, {2, 16, 7, 6}).to(type);
      const auto shifted = [](const at::Tensor& tensor) {
        const at::Tensor memory = at::empty({tensor.numel() + 1}, tensor.options());
        return memory.as_strided(tensor.sizes(), tensor.strides(), 1).copy_(tensor);
      };
      const auto run = [&](const at::Tensor& in, const at::Tensor& gradient) {
        NormActSaved saved;
        at::Tensor y = way.forward(in, {}, plainParameters(16, way.device), withRelu(), saved);
        return std::pair(y.clone(), way.backward({gradient}, saved, false, withRelu()).x);
      };
      const auto [y, dx] = run(x, dy);
      const auto [yShifted, dxShifted] = run(shifted(x), shifted(dy));
      EXPECT_LE(relativeError(yShifted, y), toleranceOf(type));
      EXPECT_LE(relativeError(dxShifted, dx), toleranceOf(type));
    }
  }
}

// Whole vectors: every bfloat16 and half as it is, and rounded to nothing, to subnormals and to infinity.
TEST(NormActExactness, Every16BitPatternIsReadAndRoundedLikeLibtorch) {
  const at::Tensor bits = at::arange(-(1 << 15), 1 << 15, at::kLong).to(at::kShort);
  NormActOptions options;
  options.training = false, options.epsilon = 0;
  for (const Way& way : ways()) {
    for (const at::ScalarType type : {at::kBFloat16, at::kHalf}) {
      for (const float factor : {1.0F, 1 / 3.0F, 3e4F, 3e-7F}) {
        SCOPED_TRACE(concat(way.name, ", ", c10::toString(type), " times ", factor));
        const at::Tensor x = bits.view(type).view({1, 64, 64, 16}).permute({0, 3, 1, 2}).to(way.device);
        NormParameters parameters = plainParameters(16, way.device);
        parameters.scale.fill_(factor);
        NormActSaved saved;
        const at::Tensor y = way.forward(x, {}, parameters, options, saved);
        const at::Tensor expected = (x.to(at::kFloat) * factor).to(type);
        const at::Tensor none = y.isnan().logical_and(expected.isnan());
        EXPECT_TRUE(y.eq(expected).logical_or(none).all().item<bool>());
      }
    }
  }
}

TEST(NormActMemory, KernelsOfAGpuWriteTheGradientsOfParametersWhereTheyAreWanted) {
  for (const Way& way : ways()) {
    for (const at::ScalarType type : {at::kFloat, at::kBFloat16, at::kHalf}) {
      SCOPED_TRACE(concat(way.name, ", gradients in ", c10::toString(type)));
      const at::Tensor x = imagesOn(way.device, {3, 24, 5, 4}), dy = imagesOn(way.device, {3, 24, 5, 4});
      const at::Tensor flat = at::full({64}, 7, x.options().dtype(type)), before = flat.clone();
      NormParameters parameters = plainParameters(24, way.device);
      NormActSaved saved;
      way.forward(x, {}, parameters, withRelu(), saved);
      const NormActGradients right = way.backward({dy}, saved, false, withRelu());
      saved.parameters.scaleGradient = flat.slice(0, 3, 27), saved.parameters.shiftGradient = flat.slice(0, 32, 56);
      const NormActGradients found = way.backward({dy}, saved, false, withRelu());
      const bool writes = way.simulated || way.device.is_cuda();
      EXPECT_EQ(found.scale.is_same(saved.parameters.scaleGradient), writes);
      EXPECT_EQ(found.shift.is_same(saved.parameters.shiftGradient), writes);
      EXPECT_TRUE(found.scale.equal(writes ? right.scale.to(type) : right.scale)) << "rounded once";
      EXPECT_TRUE(found.shift.equal(writes ? right.shift.to(type) : right.shift));
      EXPECT_EQ(flat.eq(before).sum().item<int64_t>(), writes ? 64 - 2 * 24 : 64) << "nothing else is touched";
    }
  }
}

TEST(NormActMemory, OverwritesOnlyGradientsThatNobodyElseHolds) {
  for (const Way& way : ways()) {
    SCOPED_TRACE(way.name);
    const auto images = [&] { return imagesOn(way.device, {2, 16, 4, 4}); };
    for (const bool hasResidual : {false, true}) {
      NormActSaved saved;
      way.forward(images(), hasResidual ? images() : at::Tensor(), plainParameters(16, way.device), withRelu(), saved);
      const at::Tensor held = images(), copy = held.clone();
      const at::Tensor first = way.backward({held}, saved, hasResidual, withRelu()).x;
      EXPECT_TRUE(held.equal(copy));
      at::Tensor given = copy.clone(at::MemoryFormat::Preserve);
      const void* const memory = given.data_ptr();
      std::vector<at::Tensor> gradients;
      gradients.push_back(std::move(given));
      const NormActGradients second = way.backward(std::move(gradients), saved, hasResidual, withRelu());
      EXPECT_TRUE(first.equal(second.x));
      EXPECT_EQ((hasResidual ? second.residual : second.x).data_ptr(), memory);
    }
  }
}

}  // namespace
}  // namespace tandem
